"""import_triton(): what it asks for and refuses. scripts/emulator-triton runs what it makes."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

kc = pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")

CONTRACT = '(x: f32[R, N], eps: float = 1.0) -> (y: f32[R, N]) with on "cuda"'


def test_without_triton_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(ImportError, match="import_triton needs Triton, which compiles the kernel: pip install triton"):
        kc.import_triton(print, CONTRACT, grid=1)


@pytest.fixture(scope="module")
def kernel() -> Any:
    triton = pytest.importorskip("triton", reason="triton is not installed")
    tl = pytest.importorskip("triton.language")

    @triton.jit
    def shift(x, y, n, eps, D: tl.constexpr):
        i = tl.arange(0, D)
        row = tl.program_id(0) * n
        tl.store(y + row + i, tl.load(x + row + i, mask=i < n) + eps, mask=i < n)

    # Where a decorator finds names of annotations: this module has no Triton.
    shift.__globals__["tl"] = tl
    return shift


def imported(kernel: Any, **changed: Any) -> Any:
    given = {"args": {"n": "N"}, "grid": "R", "constants": {"D": 128}, "archs": [80], **changed}
    return kc.import_triton(kernel, given.pop("contract", CONTRACT), **given)


def test_each_row_is_compiled_for_multiples_of_16_and_for_any(kernel: Any) -> None:
    function = imported(kernel)
    assert function.targets == ["cuda -arch=sm_80", "cuda -arch=compute_80"]
    assert [binary.multiples for _, binary, _ in function.kernels] == [0b111, 0b111, 0, 0]
    assert kc.build_imported(function).functions["shift"].text.endswith(CONTRACT)


def test_a_stride_of_1_is_compiled_in(kernel: Any) -> None:
    contract = '(x: f32[R, 1]) -> (y: f32[R, 1]) with on "cuda"'
    function = imported(kernel, contract=contract, args={"n": 1, "eps": 2.0})
    assert [len(binary.entry.parameters) for _, binary, _ in function.kernels] == [
        5
    ] * 4  # x, y, eps and two of Triton's
    function = imported(kernel, contract=contract, args={"n": 2, "eps": 2.0})
    assert [len(binary.entry.parameters) for _, binary, _ in function.kernels] == [6] * 4


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"constants": {}}, "the kernel's parameter 'D' is neither a constant nor a name of the contract"),
        ({"constants": {"D": 128, "E": 1}}, "constants: the kernel has no parameter 'E'"),
        ({"args": {}}, "the kernel's parameter 'n' is neither a constant nor a name of the contract"),
        ({"args": {"n": "N", "m": "N"}}, "args: the kernel has no argument 'm'"),
        ({"types": {"x": "i32"}}, "types: 'x' isn't a number that the kernel gets"),
        ({"types": {"n": "int"}}, "types: 'int' isn't a type; write one of"),
        ({"archs": []}, "archs: expected compute capabilities such as 80, got none"),
        (
            {"configs": [{"warps": 4}]},
            "configs[0]: 'warps' isn't supported; write when, constants, num_warps, num_stages",
        ),
        ({"configs": [{}, {"when": "N > 4"}]}, "configs[0]: a row without 'when' is always taken; put it last"),
        (
            {"configs": [{"when": "N < 4", "constants": {"eps": 2.0}}, {}]},
            "each row gives values to the same constants",
        ),
        ({"grid": "M"}, "grid.x: 'M': the contract has no dim or scalar 'M'"),
    ],
)
def test_what_does_not_fit_is_named(kernel: Any, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        imported(kernel, **changed)


def test_functions_that_choose_when_they_run_are_refused(kernel: Any) -> None:
    triton = pytest.importorskip("triton")
    tuned = triton.autotune([triton.Config({"D": 128})], key=["n"])(kernel)
    with pytest.raises(
        TypeError, match=r"got Autotuner, which chooses its configuration at run time; pass its inner function \(\.fn\)"
    ):
        imported(tuned)
    with pytest.raises(TypeError, match=r"expected a function under @triton.jit, got builtin_function_or_method"):
        imported(print)


def test_kernels_of_an_unknown_version_of_triton_are_refused() -> None:
    from kernpack_compiler._imports import _code, _triton
    from kernpack_compiler._imports._function import Binary

    [image] = _code.read(Path(__file__).with_name("rows.ptx"), "test")
    binary = Binary(image, image.entries["normalise"])  # of 4 parameters
    assert _triton._extras("f", [binary], 2) == 2
    for arguments in (5, 1):
        with pytest.raises(NotImplementedError, match=f"{arguments} arguments 4 parameters, which isn't understood"):
            _triton._extras("f", [binary], arguments)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"num_ctas": 2}, r"for sm_90 Triton's code needs clusters \(num_ctas\)"),
        ({"launch_pdl": True}, "for sm_90 Triton's"),
    ],
)
def test_launches_of_another_kind_are_refused_by_name(
    kernel: Any, options: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kernpack_compiler._imports import _triton

    rows = _triton._configs
    monkeypatch.setattr(
        _triton,
        "_configs",
        lambda *a: [_triton.Config(r.when, r.constants, {**r.options, **options}) for r in rows(*a)],
    )
    with pytest.raises(NotImplementedError, match=said):
        imported(kernel, archs=[90])
