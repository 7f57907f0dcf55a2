"""import_triton(): what it asks for and refuses. scripts/emulator-triton runs what it makes."""

from __future__ import annotations

import re
import sys
import types
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
            "configs[0]: 'warps' isn't supported; write when, constants, num_warps, num_stages, num_ctas, maxnreg",
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


NO_SCRATCH = {"global_scratch_size": 0, "profile_scratch_size": 0}


def test_pointers_behind_the_arguments_are_scratch_memory() -> None:
    from kernpack_compiler._imports._triton_launcher import extras

    assert extras("f", {5}, 5, NO_SCRATCH, "R") == []
    assert extras("f", {6}, 5, NO_SCRATCH, "R") == [None]
    both = {"global_scratch_size": 256, "profile_scratch_size": 64}
    assert extras("f", {7}, 5, both, "(R) * (2)") == ["workspace(256 * ((R) * (2)))", "workspace(64 * ((R) * (2)))"]
    assert extras("f", {7}, 5, {**NO_SCRATCH, "profile_scratch_size": 64}, "R") == [None, "workspace(64 * (R))"]


@pytest.mark.parametrize(
    ("counts", "scratch"),
    [
        ({3}, NO_SCRATCH),
        ({4}, NO_SCRATCH),
        ({8}, NO_SCRATCH),
        ({6, 7}, NO_SCRATCH),
        ({6}, {**NO_SCRATCH, "profile_scratch_size": 64}),
    ],
)
def test_kernels_of_an_unknown_version_of_triton_are_refused(counts: set[int], scratch: dict[str, int]) -> None:
    from kernpack_compiler._imports._triton_launcher import extras

    said = f"5 arguments {min(counts)} parameters, which isn't understood; import_triton was tested with Triton"
    with pytest.raises(NotImplementedError, match=said):
        extras("f", counts, 5, scratch, "R")


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"launch_pdl": True}, "for sm_90 Triton's code needs programmatic dependent launch, which isn't supported"),
        ({"clc": True}, "cluster launch control, which isn't supported"),
    ],
)
def test_launches_of_another_kind_are_refused_by_name(metadata: dict[str, Any], said: str) -> None:
    from kernpack_compiler._imports._triton_launcher import refuse

    plain = {"launch_cooperative_grid": True, "launch_pdl": False, "clc": False, "tensordesc_meta": [{}]}
    refuse("f", 90, types.SimpleNamespace(**plain))
    with pytest.raises(NotImplementedError, match=said):
        refuse("f", 90, types.SimpleNamespace(**{**plain, **metadata}))


def test_clusters_multiply_the_grid(kernel: Any) -> None:
    function = imported(kernel, archs=[90], num_ctas=2)
    assert {cluster for _, _, cluster in function.kernels} == {(2, 1, 1)}
    assert "let grid_x: i64 = i64(R * 2)" in kc.build_imported(function).source
    in_row = imported(kernel, archs=[90], configs=[{"num_ctas": 4, "when": "N < 64"}, {}])
    assert {cluster for _, _, cluster in in_row.kernels} == {(4, 1, 1), (0, 0, 0)}


@pytest.fixture(scope="module")
def descriptors(kernel: Any) -> Any:
    """A kernel that is given tensor descriptors, and one that makes them."""
    import triton
    import triton.language as tl

    @triton.jit
    def given(x, y, B: tl.constexpr):
        i = tl.program_id(0) * B
        y.store([i], x.load([i]) * 2)

    @triton.jit
    def made(x, y, n, B: tl.constexpr):
        i = tl.program_id(0) * B
        to = tl.make_tensor_descriptor(y, [n], [1], [B])
        to.store([i], tl.make_tensor_descriptor(x, [n], [1], [B]).load([i]) * 2)

    return given, made


VECTOR = "(x: f32[N]) -> (y: f32[N])"


def test_a_descriptor_is_a_tensor_with_its_extents_and_strides(descriptors: Any) -> None:
    options = {"grid": "cdiv(N, B)", "constants": {"B": 64}, "descriptors": {"x": ["B"], "y": [64]}}
    function = kc.import_triton(descriptors[0], VECTOR, archs=[80], **options)
    made = "private func given_launch_0(p0: f32[D0_0], p1: i64, p2: i64, p3: i8, p4: i8, p5: i32, p6: i64, p7!: f32[D7_0], "
    assert made in kc.build_imported(function).source


def test_code_for_9_0_takes_a_tensor_map_beside_code_for_8_0(descriptors: Any) -> None:
    options = {"grid": "cdiv(N, B)", "constants": {"B": 64}, "descriptors": {"x": ["B"], "y": [64]}}
    function = kc.import_triton(descriptors[0], VECTOR, archs=[80, 90], **options)
    source = kc.build_imported(function).source
    by_target = {binary.code.target: binary.parameters for _, binary, _ in function.kernels}
    tensors = {p.tensor: p.map[:7] for p in by_target["cuda -arch=sm_90a"] if p.map}
    assert tensors == {"x": [1, 7, 0, 0, 2, 0, 64], "y": [1, 7, 0, 0, 2, 0, 64]}  # 1 dim of f32, blocks of 64
    # Both take the tensors, which the launch has once, and numbers of their own.
    assert [p.argument for p in by_target["cuda -arch=sm_80"]] == list(range(16))
    assert {p.argument for p in by_target["cuda -arch=sm_90a"] if p.map} == {0, 7}
    assert source.count("f32[D") == 2


METADATA = {
    "swizzle": 3,
    "elem_size": 4,
    "elem_type": 9,
    "block_size": [8, 32],
    "fp4_padded": False,
    "is_im2col": False,
}


@pytest.mark.parametrize(
    ("maps", "said"),
    [
        ([METADATA], "for sm_90 Triton's code takes 1 tensor maps for 2 descriptors, which isn't understood"),
        ([METADATA, {**METADATA, "fp4_padded": True}], "needs tensor descriptors with padded 4-bit elements"),
        ([{**METADATA, "is_im2col": True}, METADATA], "needs im2col tensor descriptors, which aren't supported"),
    ],
)
def test_tensor_maps_of_another_kind_are_refused_by_name(maps: list[Any], said: str) -> None:
    from kernpack_compiler._imports._triton_launcher import mapped, tensor_maps

    assert tensor_maps("f", 90, types.SimpleNamespace(tensordesc_meta=None), ["x", "y"]) == {}
    assert mapped("x", 2, METADATA)[0] == "tensor_map(x, [8, 32], swizzle=128, element=8)"  # the driver's number of f64
    with pytest.raises(NotImplementedError, match=said):
        tensor_maps("f", 90, types.SimpleNamespace(tensordesc_meta=maps), ["x", "y"])


def test_a_cooperative_launch_is_asked_for(kernel: Any) -> None:
    assert {binary.cooperative for _, binary, _ in imported(kernel, cooperative=True).kernels} == {True}
    assert {binary.cooperative for _, binary, _ in imported(kernel).kernels} == {False}
    with pytest.raises(TypeError, match="shift: cooperative: expected True or False, got 'yes'"):
        imported(kernel, cooperative="yes")


def test_scratch_memory_is_a_workspace(descriptors: Any) -> None:
    function = kc.import_triton(descriptors[1], VECTOR, args={"n": "N"}, grid="cdiv(N, B)", constants={"B": 64})
    # Code for 9.0 keeps its descriptors there; that for 8.0 gets it too, and needs none.
    assert "alloc workspace_3: u8[256 * -floordiv(-N, 64)] workspace" in kc.build_imported(function).source


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"archs": [80, 90], "num_ctas": 2}, "num_ctas=2: clusters need compute capability 9.0, and code for 80 is wanted"),
        ({"archs": [90], "ptx": [80], "num_ctas": 2}, "and code for 80 is wanted; pass archs=[90], and ptx="),
        ({"num_ctas": 0}, "num_ctas: expected a number of blocks from 1 to 16, got 0"),
        ({"descriptors": {"n": [4]}}, "descriptors: 'n' isn't a parameter that gets a tensor"),
        ({"descriptors": {"z": [4]}}, "descriptors: 'z' isn't a parameter that gets a tensor"),
        ({"descriptors": {"x": [4]}}, "'x': expected the extents of a block along 2 dims, got [4]"),
        ({"descriptors": {"x": "D"}}, "'x': expected the extents of a block along 2 dims, got 'D'"),
        ({"descriptors": {"x": [1, "E"]}}, "'x': expected whole numbers from 1, or constants that are such, got 'E'"),
        ({"descriptors": {"x": [0, "D"]}}, "'x': expected whole numbers from 1, or constants that are such, got 0"),
    ],
)  # fmt: skip
def test_clusters_and_descriptors_that_cannot_be_are_named(kernel: Any, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        imported(kernel, **changed)
