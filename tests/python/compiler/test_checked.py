"""Checked builds: an access out of range is an IndexError of the call, for every kind."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import kernpack
import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
import kernpack_compiler as kc
from kernpack_compiler import ir


@ir.func("(idx: i64[N], table: f32[V, D]) -> (out: f32[N, D])")
def embed(idx, table, out, N, V, D):
    with ir.serial(N) as i, ir.serial(D) as j:
        out[i, j] = table[idx[i], j]


GOOD, BAD = np.array([2, 0, 2]), np.array([0, 5, 1])
TABLE = np.arange(12, dtype=np.float32).reshape(3, 4)
MESSAGE = r"^embed: table\[idx\[i\], j\]: index 5 is out of range for axis 0 of extent 3$"


def call_on(kind: str) -> Callable[..., np.ndarray]:
    """Calls a function with arrays on a device of that kind."""
    if kind != "opencl":
        return lambda function, *arrays: function(*arrays)
    devices = kernpack.devices("opencl")
    if not devices:
        pytest.skip("no OpenCL device: " + kernpack.info()["devices"]["opencl"])

    def call(function, *arrays):
        return function(*(kernpack.from_dlpack(a).to(devices[0]) for a in arrays)).to("cpu").numpy()

    return call


@pytest.mark.parametrize("kind", ["c", "llvm", "opencl"])
def test_out_of_range_gathers_raise(kind: str, tmp_path: Path) -> None:
    if kind not in kc.list_generators():
        pytest.skip(f"this build has no generator of kind {kind}")
    call = call_on(kind)
    module = ir.IRModule([embed], f"checked_{kind}")
    k = kc.build(module, kind, checked=True)
    np.testing.assert_array_equal(call(k.embed, GOOD, TABLE), TABLE[GOOD])
    with pytest.raises(IndexError, match=MESSAGE):
        call(k.embed, BAD, TABLE)
    library = kernpack.load(kc.export_library(module, tmp_path / "embed.so", kind, checked=True))
    with pytest.raises(IndexError, match=MESSAGE):
        call(library.embed, BAD, TABLE)


def test_the_interpreter_says_the_same() -> None:
    with pytest.raises(IndexError, match=MESSAGE):
        ir.interpret(ir.IRModule([embed]), "embed", BAD, TABLE)


def test_checked_and_other_builds_are_told_apart() -> None:
    module = ir.IRModule([embed], "told_apart")
    plain, checked = kc.build(module, "c"), kc.build(module, "c", checked=True)
    assert (plain.checked, checked.checked) == (False, True)
    assert "out of range" in checked.source
    assert "out of range" not in plain.source
    again = pickle.loads(pickle.dumps(checked))
    assert again.checked
    with pytest.raises(IndexError, match=MESSAGE):
        again.embed(BAD, TABLE)
    np.testing.assert_array_equal(plain.embed(GOOD, TABLE), checked.embed(GOOD, TABLE))


def test_generators_of_python_are_given_the_checks() -> None:
    kc.add_target_kind("test_checked", "cpu")
    kc.register_generator("test_checked", lambda module, target: kc.build(module, "c"))
    try:
        k = kc.build(ir.IRModule([embed], "by_python"), "test_checked", checked=True)
        with pytest.raises(IndexError, match=MESSAGE):
            k.embed(BAD, TABLE)
    finally:
        kc.remove_generator("test_checked")


def test_lowered_code_shows_the_checks() -> None:
    text = str(ir.lower(ir.IRModule([embed]), checked=True))
    assert text.startswith('module "module" checked\n')
    assert text.count("assert ") == 1
    assert ir.IRModule.parse(text) == ir.lower(ir.IRModule([embed]), checked=True) != ir.lower(ir.IRModule([embed]))


def test_checks_of_functions_say_values() -> None:
    @ir.func("(x: f32[N], k: i64) -> (y: f32[N])")
    def shifted(x, k, y, N):
        ir.check((k >= 0) & (k < N), "shifted: k is {} of {}", "IndexError", [k, N])
        with ir.serial(N) as i:
            y[i] = x[i]

    with pytest.raises(IndexError, match=r"^shifted: k is 4 of 3$"):
        kc.build(ir.IRModule([shifted], "shifts"), "c").shifted(np.zeros(3, np.float32), 4)
