"""Questions of the call core to NumPy: when NumPy is first used, and for errors."""

from __future__ import annotations

import sys
from typing import Any

from kernpack import _core
from kernpack._core import Tensor, dtype_word


def numpy_facts(array: Any) -> tuple[Any, ...]:
    """Facts that an array reports, to compare with its fields in memory."""
    interface = array.__array_interface__
    flags, dtype = array.flags, array.dtype
    data = interface["data"][0]
    return data, array.shape, array.strides, flags.writeable, flags.aligned, dtype.kind, dtype.byteorder, dtype.num


def numpy_samples() -> tuple[type, list[Any], Any]:
    """(ndarray, arrays that differ in everything, the capsule of NumPy's C functions or None)."""
    numpy = sys.modules["numpy"]
    base = numpy.arange(24, dtype=numpy.int16).reshape(2, 3, 4)
    frozen = numpy.ones((2, 2))
    frozen.flags.writeable = False
    swapped = numpy.zeros(3, dtype=numpy.dtype(numpy.float32).newbyteorder())
    unaligned = numpy.zeros(9, dtype=numpy.uint8)[1:].view(numpy.float64)
    samples = [base, base[:, ::-1, 1:], frozen, swapped, unaligned, numpy.array(1j), numpy.zeros((0, 5), dtype=bool)]
    umath = sys.modules.get("numpy._core._multiarray_umath") or sys.modules.get("numpy.core._multiarray_umath")
    return numpy.ndarray, samples, getattr(umath, "_ARRAY_API", None)


def numpy_is_masked(array_type: type) -> bool:
    """True if arrays of this class, a subclass of ndarray, have a mask."""
    masked = sys.modules.get("numpy.ma")  # there, when anyone has such an array
    return masked is not None and issubclass(array_type, masked.MaskedArray)


def describe_array(array: Any) -> str:
    """An array for an error message: dtype, shape, and what may be wrong with it."""
    flags, dtype = array.flags, array.dtype
    notes = [
        note
        for note, applies in (
            ("read-only", not flags.writeable),
            ("misaligned", not flags.aligned),
            ("byte-swapped", not dtype.isnative),
            (f"strides {array.strides} bytes", not flags.c_contiguous),
        )
        if applies
    ]
    shape = ", ".join(map(str, array.shape))
    return f"{dtype.name}[{shape}]" + (f" ({', '.join(notes)})" if notes else "")


def numpy_dtype(name: str) -> Any:
    """NumPy's dtype of a kernel dtype; those beyond NumPy's own need ml_dtypes, which is imported if it is installed."""
    numpy = sys.modules["numpy"]
    if _core.DType(name).bits < 8:
        raise TypeError(f"NumPy keeps an element of {name} in a byte of its own; pass out= in another framework")
    try:
        return numpy.dtype(dtype_word(name))
    except TypeError:
        pass
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(f"NumPy has no dtype for {name} of its own; pip install ml_dtypes") from None
    scalar = getattr(ml_dtypes, dtype_word(name), None)
    if scalar is None:
        raise TypeError(f"neither NumPy nor ml_dtypes has a dtype for {name}; pass out= in another framework")
    return numpy.dtype(scalar)


def numpy_empty(shape: tuple[int, ...], dtype: Any) -> Any:
    """An uninitialised array."""
    return sys.modules["numpy"].empty(shape, dtype)


class _Bytes:
    """A tensor's memory as NumPy's array interface, for dtypes that have no buffer format."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.__array_interface__ = {
            "version": 3,
            "shape": (*tensor.shape, tensor.dtype.itemsize),
            "strides": (*(step * tensor.dtype.itemsize for step in tensor.strides), 1),
            "typestr": "|u1",
            "data": (tensor.data_ptr, tensor.read_only),
        }


def numpy_from_tensor(tensor: Tensor) -> Any:
    """An array that shares the tensor's memory."""
    import numpy

    if tensor.device.type != "cpu":
        shared = _core.host_view(tensor)
        _core.stream_sync(tensor.device, _core.stream_get(tensor.device))
        tensor = shared
    try:
        return numpy.asarray(memoryview(tensor))
    except BufferError:
        dtype = numpy_dtype(tensor.dtype.name)
    return numpy.asarray(_Bytes(tensor)).view(dtype).reshape(tensor.shape)
