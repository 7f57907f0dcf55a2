"""The C structs and functions of libkernpack that tracing needs, by ctypes. Nothing here runs when a program executes."""

from __future__ import annotations

import ctypes
from ctypes import (
    POINTER,
    Structure,
    Union,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from pathlib import Path

import kernpack._core as _core

TYPE_NONE, TYPE_INT, TYPE_BOOL, TYPE_FLOAT, TYPE_DTYPE, TYPE_DEVICE, TYPE_TENSOR_VIEW, TYPE_RAW_STR = (
    0,
    1,
    2,
    3,
    5,
    6,
    7,
    8,
)
TYPE_ARRAY = 71
SIG_ABSTRACT = 1
MAX_NDIM = 64


class Bytes(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class Device(Structure):
    _fields_ = [("type", c_int32), ("id", c_int32)]


class DType(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class Tensor(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device", Device),
        ("ndim", c_int32),
        ("dtype", DType),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class Value(Union):
    _fields_ = [
        ("int", c_int64),
        ("float", c_double),
        ("pointer", c_void_p),
        ("text", c_char_p),
        ("dtype", DType),
        ("device", Device),
        ("bits", c_uint64),
    ]


class Any(Structure):
    _fields_ = [("type", c_int32), ("small_length", c_uint32), ("v", Value)]


class Sequence(Structure):
    """An ARRAY; on Python's side it is borrowed memory, never released through its header."""

    _fields_ = [
        ("counts", c_uint64),
        ("type", c_int32),
        ("reserved", c_uint32),
        ("deleter", c_void_p),
        ("data", POINTER(Any)),
        ("size", c_int64),
        ("capacity", c_int64),
        ("data_deleter", c_void_p),
    ]


class Error(Structure):
    _fields_ = [("header", c_uint8 * 24), ("kind", Bytes), ("message", Bytes), ("backtrace", Bytes)]


class Parameter(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("kind", c_uint32),
        ("flags", c_uint32),
        ("default", Any),
        ("list_default_size", c_int32),
        ("list_default_items", POINTER(Any)),
    ]


class Result(Structure):
    _fields_ = [("name", c_char_p), ("flags", c_uint32)]


class Frame(Structure):
    """KpSigFrame."""

    _fields_ = [
        ("device", Device),
        ("batch_ndim", c_int32),
        ("batch_shape", POINTER(c_int64)),
        ("bound", c_uint64),
        ("dims", c_int64 * 32),
        ("dtypes", DType * 8),
        ("args", c_void_p),
        ("program", c_void_p),
        ("star_shape", c_void_p * 8),
        ("star_ndim", c_int32 * 8),
    ]


class LoadedFunction(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("module_name", c_char_p),
        ("signature", c_void_p),
        ("program", c_void_p),
        ("cpu_call", c_void_p),
        ("cpu_self", c_void_p),
        ("doc", c_char_p),
        ("cxx_types", c_char_p),
        ("module", c_void_p),
    ]


_PROTOTYPES = {
    "kp_error_take": (None, [c_char_p, c_int, POINTER(Any)]),
    "kp_dtype_name": (c_char_p, [DType]),
    "kp_dtype_from_name": (c_int, [Bytes, POINTER(DType)]),
    "kp_device_from_name": (c_int, [Bytes, POINTER(Device)]),
    "kp_sig_num_params": (c_int32, [c_void_p]),
    "kp_sig_num_results": (c_int32, [c_void_p]),
    "kp_sig_props": (c_uint32, [c_void_p]),
    "kp_sig_param": (c_int, [c_void_p, c_int32, POINTER(Parameter)]),
    "kp_sig_result": (c_int, [c_void_p, c_int32, POINTER(Result)]),
    "kp_sig_check": (c_int, [c_void_p, c_char_p, POINTER(Any), POINTER(Any), c_uint32, POINTER(Frame)]),
    "kp_sig_result_prototype": (c_int, [POINTER(Frame), c_char_p, c_int32, POINTER(c_int64), POINTER(Tensor)]),
    "kp_sig_workspace_bytes": (c_int, [POINTER(Frame), c_char_p, POINTER(c_uint64)]),
}

LIBRARY_PATH = Path(_core.__file__).parent / "libkernpack.so"


def _load() -> ctypes.PyDLL:
    # The file that the call core is linked with, so the loader hands back the library already in the process.
    library = ctypes.PyDLL(str(LIBRARY_PATH))
    for name, (result, arguments) in _PROTOTYPES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


lib = _load()


def text(value: str) -> Bytes:
    """A string that lives as long as the returned struct."""
    encoded = ctypes.create_string_buffer(value.encode())
    result = Bytes(ctypes.addressof(encoded), len(encoded) - 1)
    result.keep = encoded
    return result


def check(rc: int, who: str) -> None:
    """Turns a failed call's pending error into the Python exception of its kind."""
    if rc == 0:
        return
    from ._errors import exception

    taken = Any()
    lib.kp_error_take(who.encode(), rc, ctypes.byref(taken))
    error = ctypes.cast(taken.v.pointer, POINTER(Error)).contents
    kind, message = _decode(error.kind), _decode(error.message)
    _release(taken.v.pointer)
    raise exception(kind, message)


_Deleter = ctypes.CFUNCTYPE(None, c_void_p, ctypes.c_int)


def _release(address: int) -> None:
    """Ends an object that nobody else holds: both of its counts go, through its own deleter."""
    deleter = c_void_p.from_address(address + 16).value  # KpObject: counts, type_index, deleter
    ctypes.c_uint64.from_address(address).value -= 1
    if deleter:
        _Deleter(deleter)(address, 3)


def _decode(value: Bytes) -> str:
    return ctypes.string_at(value.data, value.size).decode("utf-8", "replace") if value.size else ""
