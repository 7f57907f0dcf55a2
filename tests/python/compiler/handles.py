"""Tensors of devices whose memory is a handle, for hosts that take any: kernpack's own DLPack shares addresses only."""

from __future__ import annotations

import ctypes
from typing import Any

import kernpack

OPENCL = 4  # DLDeviceType


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),  # here a DLManagedTensor goes on
        ("deleter", ctypes.c_void_p),  # NULL: nothing to free
    )


class Handle:
    """A compact f32 tensor of an OpenCL device as a producer of DLPack. It has to outlive what is made of it."""

    def __init__(self, tensor: kernpack.Tensor) -> None:
        shape = tuple(tensor.shape)
        extents = (ctypes.c_int64 * len(shape))(*shape)
        self._kept = tensor, extents
        self._tensor = _Tensor(tensor.data_ptr, OPENCL, 0, len(shape), 2, 32, 1, extents, None, 0, None, None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return OPENCL, 0

    def __dlpack__(self, **_: Any) -> Any:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self._tensor), b"dltensor", None)
