"""Objects whose buffers have whatever fields a test wants, as only types in C can have them."""

from __future__ import annotations

import ctypes
from typing import Any

_SIZE = ctypes.c_ssize_t
_SIZES = ctypes.POINTER(_SIZE)
_GET_BUFFER = 1  # Py_bf_getbuffer


class _View(ctypes.Structure):
    """Py_buffer."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", _SIZE),
        ("itemsize", _SIZE),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", _SIZES),
        ("strides", _SIZES),
        ("suboffsets", _SIZES),
        ("internal", ctypes.c_void_p),
    )


class _Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("function", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    )


_Get = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_View), ctypes.c_int)
_kept: list[Any] = []  # what the types refer to


def _sizes(values: tuple[int, ...] | None) -> Any:
    return None if values is None else (_SIZE * max(len(values), 1))(*values)


def exporter(
    memory: bytearray | None,
    *,
    itemsize: int = 4,
    format: bytes | None = b"f",
    ndim: int = 1,
    shape: tuple[int, ...] | None = None,
    strides: tuple[int, ...] | None = None,
    suboffsets: tuple[int, ...] | None = None,
    length: int | None = None,
    readonly: bool = False,
) -> Any:
    """An object that exports `memory` with those fields, whatever is asked for. None: a NULL pointer."""
    held = None if memory is None else (ctypes.c_char * len(memory)).from_buffer(memory)
    size = (len(memory) if memory is not None else 0) if length is None else length
    arrays = [_sizes(values) for values in (shape, strides, suboffsets)]

    def get(self: int, view: Any, flags: int) -> int:
        to = view.contents
        to.buf = None if held is None else ctypes.addressof(held)
        to.obj, to.len, to.itemsize, to.readonly, to.ndim = self, size, itemsize, readonly, ndim
        to.format = format
        to.shape, to.strides, to.suboffsets = (array and ctypes.cast(array, _SIZES) for array in arrays)
        to.internal = None
        ctypes.pythonapi.Py_IncRef(ctypes.c_void_p(self))
        return 0

    callback = _Get(get)
    slots = (_Slot * 2)(_Slot(_GET_BUFFER, ctypes.cast(callback, ctypes.c_void_p)), _Slot(0, None))
    spec = _Spec(b"exporter.Exporter", object.__basicsize__, 0, 0, slots)
    make = ctypes.pythonapi.PyType_FromSpec
    make.restype, make.argtypes = ctypes.py_object, [ctypes.POINTER(_Spec)]
    _kept.append((held, arrays, callback, slots, spec))
    return make(spec)()
