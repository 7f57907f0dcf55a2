"""Values through an untyped function and back."""

from __future__ import annotations

import sys
import threading

import kernpack
import numpy as np
import pytest
from support.optional import optional


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        0,
        -1,
        2**63 - 1,
        -(2**63),
        2.5,
        float("inf"),
        "",
        "short",
        "longer than seven",
        "é\0x",
        b"",
        b"\0" * 9,
    ],
    ids=repr,
)
def test_scalars_come_back(k, value):
    result = k.echo(value)
    assert result == value
    assert type(result) is type(value)


def test_containers_come_back(k):
    assert k.echo([1, "two", [3.0, None]]) == [1, "two", [3.0, None]]
    assert k.echo((1, 2)) == [1, 2]
    assert k.echo({"a": 1, "b": [2, {"c": 3}]}) == {"a": 1, "b": [2, {"c": 3}]}


def test_a_list_that_contains_itself_is_an_error(k):
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(RecursionError):
        k.echo(loop)


def test_ten_megabytes_of_text(k):
    text = "ü" * 5_000_000
    assert k.echo(text) == text


def test_numpy_scalars(k):
    assert k.echo(np.float32(1.5)) == 1.5
    assert k.echo(np.int16(-3)) == -3
    assert k.echo(np.bool_(True)) is True


def test_a_result_below_a_byte_is_no_numpy_array(k):
    with pytest.raises(TypeError, match=r"NumPy keeps an element of i4 in a byte of its own; pass out="):
        k.nibbles(np.ones(4, np.float32))


def test_names_of_dtypes_that_numpy_and_torch_have():
    import ml_dtypes
    import torch
    from kernpack._core import dtype_word

    for name in ("bool", "i8", "u64", "f16", "bf16", "c128", "f8_e4m3fn", "f8_e8m0fnu"):
        assert kernpack.DType(getattr(torch, dtype_word(name))).name == name
    for name in ("bf16", "i4", "f8_e3m4", "f8_e4m3b11fnuz", "f6_e2m3fn", "f4_e2m1fn"):
        assert kernpack.DType(getattr(ml_dtypes, dtype_word(name))).name == name


def test_dtypes_and_devices_in_every_spelling(k):
    import torch

    for spelling in (np.dtype("f4"), np.float32, torch.float32, kernpack.dtype("f32")):
        assert k.echo(spelling) == kernpack.dtype("float32")
    for device in (torch.device("cpu"), kernpack.device("cpu", 0)):
        assert k.echo(device) == kernpack.device("cpu")
    assert str(kernpack.device("cuda", 1)) == "cuda:1"
    assert kernpack.device((2, 3)) == kernpack.device("cuda:3")
    assert k.echo(optional("jax.numpy").float32) == kernpack.dtype("float32")


def test_other_objects_pass_as_handles_without_a_leak(k):
    thing = threading.Event()
    before = sys.getrefcount(thing)
    for _ in range(100):
        assert k.echo(thing) is thing
    assert sys.getrefcount(thing) == before


def test_callables_become_functions_and_carry_their_exceptions(k):
    error = LookupError("mine")

    def raises() -> None:
        raise error

    assert k.echo(lambda a, b: a + b)(2, 3) == 5
    with pytest.raises(LookupError) as caught:
        k.echo(raises)()
    assert caught.value is error


def test_global_functions_are_reentrant_and_recursive():
    name = "core_tests.factorial"

    @kernpack.register_func(name, replace=True)
    def factorial(n: int) -> int:
        return 1 if n < 2 else n * kernpack.get_func(name)(n - 1)

    assert kernpack.get_func(name)(10) == 3628800
    assert name in kernpack.list_funcs()
    with pytest.raises(ValueError, match=name):
        kernpack.register_func(name, factorial)
    kernpack.remove_func(name)
    with pytest.raises(KeyError):
        kernpack.get_func(name)


def test_endless_recursion_through_a_kernel_is_an_error():
    name = "core_tests.forever"
    kernpack.register_func(name, lambda: kernpack.get_func(name)(), replace=True)
    with pytest.raises(RecursionError):
        kernpack.get_func(name)()
    kernpack.remove_func(name)


def test_storage_from_python():
    kernpack.storage.set("core_tests", "key", [1, 2])
    assert kernpack.storage.get("core_tests", "key") == [1, 2]
    assert kernpack.storage.erase("core_tests", "key")
    with pytest.raises(KeyError):
        kernpack.storage.get("core_tests", "key")
