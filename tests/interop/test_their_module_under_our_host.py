"""A module built with apache-tvm-ffi's SDK, unmodified, under kernpack.load."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import kernpack
import numpy as np
import pytest


@pytest.fixture(scope="module")
def theirs(peer_path: Path) -> kernpack.Module:
    return kernpack.load(str(peer_path))


def test_functions_are_listed_with_their_types(theirs: kernpack.Module) -> None:
    assert sorted(theirs.functions) == [
        "add",
        "add_one",
        "call_back",
        "doubled",
        "fail",
        "greet",
        "iota",
        "lookup",
        "product",
    ]


def test_numbers_and_strings(theirs: kernpack.Module) -> None:
    assert theirs.add(40, 2) == 42
    assert theirs.greet("kernels") == "hello kernels"
    assert theirs.greet("a") == "hello a"
    assert theirs.greet("ü" * 1000) == "hello " + "ü" * 1000


def test_arrays_maps_and_shapes(theirs: kernpack.Module) -> None:
    assert list(theirs.doubled([1, 2, 3])) == [2, 4, 6]
    assert list(theirs.doubled([])) == []
    assert theirs.lookup({"a": 1, "b": 2}, "b") == 2
    assert theirs.lookup({str(i): i for i in range(100)}, "77") == 77
    assert theirs.product([2, 3, 4]) == 24


def test_callbacks_run_and_carry_their_exceptions(theirs: kernpack.Module) -> None:
    assert theirs.call_back(lambda value: value + 1, 41) == 42

    def refuse(value: int) -> None:
        raise KeyError(f"no {value}")

    with pytest.raises(KeyError, match="no 7"):
        theirs.call_back(refuse, 7)


def test_tensors_are_written_in_place(theirs: kernpack.Module) -> None:
    x = np.arange(4, dtype=np.float32)
    out = np.zeros(4, dtype=np.float32)
    theirs.add_one(x, out)
    np.testing.assert_array_equal(out, x + 1)


def test_a_returned_tensor_comes_from_our_allocator(theirs: kernpack.Module) -> None:
    np.testing.assert_array_equal(np.from_dlpack(theirs.iota(5)), np.arange(5, dtype=np.float32))


def test_errors_keep_their_kind_and_text(theirs: kernpack.Module) -> None:
    with pytest.raises(ValueError, match="peer says 100%s"):
        theirs.fail("100%s")
    with pytest.raises(TypeError):
        theirs.add("a", 1)
    assert theirs.add(1, 1) == 2  # nothing was left behind


def test_signal_handlers_stay(peer_path: Path) -> None:
    code = (
        "import ctypes, sys\n"
        "libc = ctypes.CDLL(None)\n"
        "def handler():\n"
        "    action = (ctypes.c_void_p * 19)()\n"
        f"    libc.sigaction({int(signal.SIGSEGV)}, None, action)\n"
        "    return action[0]\n"
        "import kernpack\n"
        "before = handler()\n"
        "assert kernpack.load(sys.argv[1]).add(1, 2) == 3\n"
        "assert 'tvm_ffi' not in sys.modules\n"
        "assert handler() == before, 'a handler was left behind'\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(peer_path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
