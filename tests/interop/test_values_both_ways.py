"""Every kind of value through functions of our module, under our host and under the peer's: what comes back is the same."""

from __future__ import annotations

import gc
import math
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import kernpack
import numpy as np
import pytest
import torch
import tvm_ffi
from support.host import INCLUDE
from support.interop import SOURCES, compile_module


@pytest.fixture(scope="module")
def module_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("values") / "our_values.so"
    return compile_module(SOURCES / "our_values.cc", out, f"-I{INCLUDE}")


@pytest.fixture(params=["ours", "theirs"])
def host(request: pytest.FixtureRequest, module_path: Path) -> SimpleNamespace:
    load = kernpack.load if request.param == "ours" else tvm_ffi.load_module
    return SimpleNamespace(k=load(str(module_path)), ours=request.param == "ours")


def plain(value: Any) -> Any:
    """Either host's containers and strings as Python's own."""
    if isinstance(value, (str, bytes)):
        return str(value) if isinstance(value, str) else bytes(value)
    if hasattr(value, "items"):
        return {plain(key): plain(item) for key, item in value.items()}
    if hasattr(value, "__len__") and hasattr(value, "__getitem__"):
        return [plain(item) for item in value]
    return value


TEXTS = ["", "a", "seven77", "eight888", "ü€😀", "x" * 100_000]
MANY = {str(i): i for i in range(200)}
BYTES = [b"", b"\0\xff", b"1234567", b"12345678", b"\0" * 10_000]


@pytest.mark.parametrize(
    "value",
    [None, True, False, 0, -1, 2**63 - 1, -(2**63), 0.5, math.inf, *TEXTS, *BYTES],
    ids=lambda value: f"{type(value).__name__}-{str(value)[:8]!r}",
)
def test_plain_values_come_back(value: Any, host: SimpleNamespace) -> None:
    got = plain(host.k.echo(value))
    assert got == value
    assert isinstance(got, type(value))


@pytest.mark.parametrize(
    "value",
    [
        [],
        [1, 2, 3],
        ["a", "b" * 50],
        [None, 1.5, [True, ["deep"]]],
        {},
        {"a": 1},
        MANY,
        {1: "one", "two": [2, {"three": 3}]},
    ],
    ids=lambda value: str(value)[:24],
)
def test_containers_come_back(value: Any, host: SimpleNamespace) -> None:
    assert plain(host.k.echo(value)) == value
    assert plain(host.k.wrapped(value)) == [value, 1]


def test_strings_and_bytes(host: SimpleNamespace) -> None:
    assert host.k.greet("kernels") == "hello kernels"
    assert host.k.greet("") == "hello "
    assert host.k.reversed(b"abc\0") == b"\0cba"


def test_lists_and_shapes(host: SimpleNamespace) -> None:
    assert plain(host.k.doubled([1, -2, 3])) == [2, -4, 6]
    assert plain(host.k.doubled([])) == []
    assert host.k.product((2, 3, 4)) == 24
    assert list(host.k.shape_of(torch.zeros(2, 0, 5))) == [2, 0, 5]
    with pytest.raises(TypeError):
        host.k.doubled(["a"])


def test_functions_go_in_and_out(host: SimpleNamespace) -> None:
    assert host.k.call_back(lambda value: value * 2, 21) == 42
    add_5 = host.k.adder(5)
    gc.collect()
    assert add_5(37) == 42
    assert host.k.call_back(add_5, 1) == 6  # a function of the module's own, through the host and back

    def refuse(value: int) -> None:
        raise KeyError(f"no {value}")

    with pytest.raises(KeyError, match="no 7"):
        host.k.call_back(refuse, 7)
    with pytest.raises(ValueError, match="adder: -1 is negative"):
        add_5(-1)
    with pytest.raises(ValueError, match="adder: -2 is negative"):
        host.k.call_back(add_5, -2)
    assert add_5(0) == 5


def test_a_function_that_the_module_drops_is_let_go(host: SimpleNamespace) -> None:
    class Callable:
        def __call__(self, value: int) -> int:
            return value

    function = Callable()
    alive = weakref.ref(function)
    assert host.k.call_back(function, 3) == 3
    del function
    gc.collect()
    assert alive() is None


def test_tensors_go_in_and_out(host: SimpleNamespace) -> None:
    x = torch.zeros(3)
    host.k.add_one(x)
    assert x.tolist() == [1, 1, 1]
    made = host.k.iota(5)
    np.testing.assert_array_equal(np.from_dlpack(made), np.arange(5, dtype=np.float32))
    again = np.from_dlpack(host.k.same(made))
    host.k.add_one(made)  # they share their memory
    assert again[0] == 1
    del made, x
    gc.collect()
    np.testing.assert_array_equal(again, [1, 2, 3, 4, 5])


def test_values_of_one_host_through_the_other(module_path: Path) -> None:
    """Tensors meet through DLPack, functions as callables, containers and strings as Python's own."""
    ours, theirs = kernpack.load(str(module_path)), tvm_ffi.load_module(str(module_path))
    mine, yours = ours.iota(4), theirs.iota(4)
    ours.add_one(yours)
    theirs.add_one(mine)
    np.testing.assert_array_equal(np.from_dlpack(mine), [1, 2, 3, 4])
    np.testing.assert_array_equal(np.from_dlpack(yours), [1, 2, 3, 4])
    assert ours.call_back(theirs.adder(1), 2) == 3
    assert theirs.call_back(ours.adder(1), 2) == 3
    with pytest.raises(ValueError, match="adder: -3 is negative"):
        ours.call_back(theirs.adder(1), -3)
    with pytest.raises(ValueError, match="adder: -4 is negative"):
        theirs.call_back(ours.adder(1), -4)
    assert ours.greet(theirs.greet("a")) == theirs.greet(ours.greet("a")) == "hello hello a"
    assert plain(ours.doubled(list(theirs.doubled([1, 2])))) == [4, 8]
    assert ours.product(tuple(theirs.shape_of(mine))) == theirs.product(tuple(ours.shape_of(yours))) == 4
