"""Tensors of devices whose memory is a handle, for hosts that take any: kernpack's own DLPack shares addresses only."""

from __future__ import annotations

import ctypes
from typing import Any

import kernpack
from support.dlpack import DLTensor, Managed

OPENCL = 4  # DLDeviceType


# A function of our own: that of ctypes.pythonapi is shared, and others declare it anew.
_new = ctypes.PyDLL(None).PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


class Handle:
    """A compact f32 tensor of an OpenCL device as a producer of DLPack. It has to outlive what is made of it."""

    def __init__(self, tensor: kernpack.Tensor) -> None:
        shape = tuple(tensor.shape)
        extents = (ctypes.c_int64 * len(shape))(*shape)
        self._kept = tensor, extents
        view = DLTensor(tensor.data_ptr, OPENCL, 0, len(shape), 2, 32, 1, extents, None, 0)
        self._managed = Managed(view, None, None)  # no deleter: nothing to free

    def __dlpack_device__(self) -> tuple[int, int]:
        return OPENCL, 0

    def __dlpack__(self, **_: Any) -> Any:
        return _new(ctypes.addressof(self._managed), b"dltensor", None)
