"""Exported modules under apache-tvm-ffi: each kind of function runs there, and its contract is checked as here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import kernpack
import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
pytest.importorskip("tvm_ffi", reason="apache-tvm-ffi is not installed")
import kernpack_compiler as kc
import tvm_ffi
from built import MODULE, expected_softmax, rows
from kernpack_compiler import ir
from kernpack_sdk import check, elf
from support.refusal import CONVERT

KINDS = [kind for kind in ("c", "llvm") if kind in kc.list_generators()]


@ir.func("(x: f32[N], k: f32) -> (y: f32[N])", signature="(x: f32[N], k: float = 2.0) -> (y: f32[N]) where N % 2 == 0")
def scale_pairs(x, k, y, N):
    with ir.vectorized(N, lanes=8) as i:
        y[i] = x[i] * k


@ir.func("(x: f32[N, D]) -> (total: f32[N], largest: f32[N])")
def total_and_largest(x, total, largest, N, D):
    with ir.parallel(N) as i:
        total[i] = ir.sum(D, lambda j: x[i, j])
        largest[i] = ir.reduce("max", D, lambda j: x[i, j])


@ir.func("(x: f32[N]) -> (y: f32[N], memory: u8[2 * N])", signature="(x: f32[N]) -> (y: f32[N]) with workspace = 2 * N")
def reverse(x, y, memory, N):
    with ir.serial(N) as i:
        memory[2 * i] = ir.u8(i)
    with ir.serial(N) as i:
        y[i] = x[N - 1 - ir.i64(memory[2 * i])]


@ir.func("() -> (calls: i64[1])")
def count(calls):
    seen = ir.persistent("seen", "i64", [1])
    seen[0] = seen[0] + 1
    calls[0] = seen[0]


@ir.func("(x: i32[N]) -> (y: i32[N])")
def positive(x, y, N):
    with ir.parallel(N) as i:
        ir.check(x[i] > 0, "expected positive numbers")
        y[i] = x[i]


FUNCTIONS = ir.IRModule([*MODULE.functions, scale_pairs, total_and_largest, reverse, count, positive], "foreign")


@pytest.fixture(scope="module", params=KINDS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("foreign")
    return kc.export_library(FUNCTIONS, folder / "foreign.so", request.param)


@pytest.fixture(scope="module")
def theirs(library: Path) -> Any:
    return tvm_ffi.load_module(str(library))


def tensor(array: np.ndarray) -> Any:
    return tvm_ffi.from_dlpack(array)


def test_every_public_function_has_an_alias_and_nothing_else_is_exported(library: Path) -> None:
    names = {f"__tvm_ffi_{f.name}" for f in FUNCTIONS.functions}
    assert set(elf.read(library).exports) == names | {"kp_module_v1"}
    assert check.check_module(library) == []


def test_an_elementwise_function(theirs: Any) -> None:
    y = np.empty(5, np.float32)
    theirs.scale(tensor(np.arange(5, dtype=np.float32)), 3.0, tensor(y))
    np.testing.assert_array_equal(y, [0, 3, 6, 9, 12])


def test_a_default_is_filled_and_the_result_allocated(theirs: Any) -> None:
    x = tensor(np.arange(4, dtype=np.float32))
    np.testing.assert_array_equal(np.from_dlpack(theirs.scale_pairs(x)), [0, 2, 4, 6])
    np.testing.assert_array_equal(np.from_dlpack(theirs.scale_pairs(x, 0.5)), [0, 0.5, 1, 1.5])


def test_a_function_with_threads_and_memory_of_its_own(theirs: Any) -> None:
    for n in (1, 4, 64):  # the memory grows
        x, y = rows(n, 3 * n), np.empty((n, 3 * n), np.float32)
        theirs.softmax(tensor(x), tensor(y))
        np.testing.assert_allclose(y, expected_softmax(x), rtol=2e-6)


def test_several_results(theirs: Any) -> None:
    total, largest = (np.from_dlpack(t) for t in theirs.total_and_largest(tensor(rows())))
    np.testing.assert_allclose(total, rows().sum(-1), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(largest, rows().max(-1))


def test_a_workspace_that_the_contract_asks_for(theirs: Any) -> None:
    x = np.arange(7, dtype=np.float32)
    np.testing.assert_array_equal(np.from_dlpack(theirs.reverse(tensor(x))), x[::-1])


def test_memory_is_kept_between_calls_for_each_host(library: Path, theirs: Any) -> None:
    ours, calls = kernpack.load(library), np.zeros(1, np.int64)
    first = int(np.from_dlpack(theirs.count())[0])
    for call in (1, 2, 3):
        ours.count(out=calls)
        assert int(np.from_dlpack(theirs.count())[0]) == first + call


def test_what_a_body_raises(theirs: Any) -> None:
    x = np.ones(1000, np.int32)
    np.testing.assert_array_equal(np.from_dlpack(theirs.positive(tensor(x))), x)
    x[700] = -1
    with pytest.raises(ValueError, match="expected positive numbers"):
        theirs.positive(tensor(x))


WRONG = {
    "dtype": ("scale", (np.zeros(4), 1.0)),
    "rank": ("softmax", (np.zeros(4, np.float32),)),
    "condition": ("scale_pairs", (np.zeros(3, np.float32),)),
    "scalar": ("scale", (np.zeros(4, np.float32), "two")),
    "layout": ("softmax", (np.zeros((4, 4), np.float32).T,)),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_arguments_are_told_as_here(library: Path, theirs: Any, wrong: str) -> None:
    name, args = WRONG[wrong]
    given = [tensor(a) if isinstance(a, np.ndarray) else a for a in args]
    with pytest.raises(Exception) as there:  # noqa: PT011
        getattr(theirs, name)(*given)
    assert str(there.value).startswith(f"{name}: ")
    with pytest.raises(type(there.value)) as here:
        getattr(kernpack.load(library), name)(*args)
    assert str(there.value) == str(here.value).removesuffix(CONVERT)  # advice of the host, which modules don't carry


def test_a_result_of_the_wrong_shape_is_told_as_here(library: Path, theirs: Any) -> None:
    x, y = rows(2, 3), np.zeros((2, 4), np.float32)
    with pytest.raises(ValueError, match="softmax: y: ") as there:
        theirs.softmax(tensor(x), tensor(y))
    with pytest.raises(ValueError, match=r"softmax: out \(y\): ") as here:
        kernpack.load(library).softmax(x, out=y)
    assert str(there.value) == str(here.value).replace("out (y): ", "y: ")


def test_too_few_arguments_are_an_error(theirs: Any) -> None:
    with pytest.raises(TypeError, match=r"scale: .*argument"):
        theirs.scale()


def test_it_loads_where_there_is_no_kernpack(library: Path) -> None:
    program = (
        "import sys, numpy as np, tvm_ffi\n"
        f"m = tvm_ffi.load_module({str(library)!r})\n"
        "print(np.from_dlpack(m.scale_pairs(tvm_ffi.from_dlpack(np.ones(2, np.float32)))), 'kernpack' in sys.modules)\n"
    )
    environment = {**os.environ, "PATH": ""}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert (done.stdout, done.stderr) == ("[2. 2.] False\n", "")
