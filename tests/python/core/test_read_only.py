"""Memory that may not be written to: a kernpack.Tensor knows, and says so to whom it's handed on."""

from __future__ import annotations

import ctypes
from typing import Any

import kernpack
import numpy as np
import pytest
import torch
from kernpack import storage
from producer import Producer
from support.optional import optional

jnp = optional("jax.numpy")


def _frozen(values: Any = (0.0, 0.0, 0.0), dtype: Any = np.float32) -> np.ndarray:
    array = np.array(values, dtype)
    array.flags.writeable = False
    return array


READ_ONLY = {
    "numpy": _frozen,
    "jax": lambda: jnp.zeros(3),
    "producer": lambda: Producer(_frozen()),
    "memoryview": lambda: memoryview(_frozen()),
    "bytes": lambda: memoryview(bytes(12)).cast("f"),
}
WRITEABLE = {
    "numpy": lambda: np.zeros(3, np.float32),
    "torch": lambda: torch.zeros(3),
    "producer": lambda: Producer(np.zeros(3, np.float32)),
    "memoryview": lambda: memoryview(bytearray(12)).cast("f"),
    "ctypes": lambda: (ctypes.c_float * 3)(),
    "kernpack": lambda: kernpack.zeros((3,), "f32"),
}


@pytest.mark.parametrize("kind", READ_ONLY)
def test_a_tensor_of_read_only_memory_is_read_only(k: Any, kind: str) -> None:
    source = READ_ONLY[kind]()
    tensor = kernpack.from_dlpack(source)
    assert tensor.read_only
    assert kernpack.from_dlpack(tensor).read_only
    assert tensor.to("cpu").read_only, "it is there already"
    np.testing.assert_array_equal(k.scale(tensor), np.zeros(3), "reading it is all right")
    with pytest.raises(ValueError, match=r"bump: x: expected a writeable tensor .*got a read-only one"):
        k.bump(tensor)
    with pytest.raises(ValueError, match=r"scale: out: expected a writeable tensor .*got a read-only one"):
        k.scale(np.ones(3, np.float32), out=tensor)
    with pytest.raises(ValueError, match="touch: argument 0: expected a writeable tensor"):
        k.touch(tensor)  # without a signature
    with pytest.raises(ValueError, match="copy: target: expected a writeable tensor"):
        tensor.copy_(np.ones(3, np.float32))
    with pytest.raises(ValueError, match="fill: tensor: expected a writeable tensor"):
        kernpack._core.fill(tensor, 1)
    np.testing.assert_array_equal(tensor.numpy(), np.zeros(3))


@pytest.mark.parametrize("kind", WRITEABLE)
def test_a_tensor_of_writeable_memory_is_writeable(k: Any, kind: str) -> None:
    tensor = kernpack.from_dlpack(WRITEABLE[kind]())
    assert not tensor.read_only
    for _ in range(2):
        k.bump(tensor)
    tensor.numpy()[0] = 7
    np.testing.assert_array_equal(np.from_dlpack(tensor), [7, 2, 2])


def test_it_stays_read_only_wherever_it_goes() -> None:
    tensor = kernpack.from_dlpack(_frozen())
    assert memoryview(tensor).readonly
    assert not tensor.numpy().flags.writeable
    assert not np.asarray(tensor).flags.writeable
    assert not np.from_dlpack(tensor).flags.writeable
    assert kernpack.from_dlpack(Producer(tensor)).read_only
    with pytest.raises(TypeError, match=r"read-write bytes-like|writable"):
        (ctypes.c_float * 3).from_buffer(tensor)
    with pytest.raises(BufferError, match="read-only, which the unversioned DLPack protocol cannot say"):
        tensor.__dlpack__()
    np.testing.assert_array_equal(jnp.asarray(tensor), np.zeros(3))
    copy = np.array(tensor)
    copy[0] = 1


def test_dtypes_without_a_buffer_format_stay_read_only_in_numpy() -> None:
    tensor = kernpack.from_dlpack(jnp.zeros(3, jnp.bfloat16))
    assert not tensor.numpy().flags.writeable


def test_a_borrowed_view_is_not_given_out_as_writeable() -> None:
    """DLPack's C exchange table lends views without flags, in its fourth function."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = pointer(kernpack.Tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api")
    functions = (ctypes.c_void_p * 4).from_address(table + 16)
    view = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(functions[3])
    room = ctypes.create_string_buffer(64)
    assert view(kernpack.from_dlpack(np.ones(3, np.float32)), ctypes.addressof(room)) == 0
    with pytest.raises(BufferError, match="this one is read-only"):
        view(kernpack.from_dlpack(_frozen()), ctypes.addressof(room))


def test_a_stored_array_is_as_it_was() -> None:
    storage.set("read_only", "frozen", _frozen())
    storage.set("read_only", "own", np.zeros(3, np.float32))
    try:
        assert storage.get("read_only", "frozen").read_only
        assert not storage.get("read_only", "own").read_only
    finally:
        storage.erase("read_only", "frozen")
        storage.erase("read_only", "own")


@pytest.mark.parametrize(("like", "result"), [(torch.ones(1), kernpack.Tensor), (np.ones(1), np.ndarray)])
def test_a_read_only_result_becomes_an_array_that_knows(k: Any, like: Any, result: type) -> None:
    kept = _frozen()
    got = k.give(lambda: kernpack.from_dlpack(kept), like)
    assert type(got) is result
    assert memoryview(got).readonly


def test_a_copy_is_writeable(k: Any) -> None:
    tensor = kernpack.from_dlpack(_frozen())
    copy = kernpack.empty((3,), "f32").copy_(tensor)
    k.bump(copy)
    np.testing.assert_array_equal(copy.numpy(), np.ones(3))
    np.testing.assert_array_equal(tensor.numpy(), np.zeros(3))
