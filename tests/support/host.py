"""libkernpack through ctypes, for tests that must not depend on the Python package."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "ffi" / "include"
_FILE = "kernpack.dll" if os.name == "nt" else "libkernpack.so"


class Bytes(ctypes.Structure):
    _fields_ = (("data", ctypes.c_char_p), ("size", ctypes.c_size_t))


class Any(ctypes.Structure):
    _fields_ = (("type_index", ctypes.c_int32), ("small_len", ctypes.c_uint32), ("bits", ctypes.c_uint64))


class ErrorObject(ctypes.Structure):
    _fields_ = (("header", ctypes.c_char * 24), ("kind", Bytes), ("message", Bytes))


class StringObject(ctypes.Structure):
    _fields_ = (("header", ctypes.c_char * 24), ("bytes", Bytes))


class LoadedFunction(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("module_name", ctypes.c_char_p),
        ("signature", ctypes.c_void_p),
        ("program", ctypes.c_void_p),
        ("cpu_call", ctypes.c_void_p),
        ("cpu_self", ctypes.c_void_p),
        ("doc", ctypes.c_char_p),
        ("cxx_types", ctypes.c_char_p),
        ("module", ctypes.c_void_p),
        ("attributes", ctypes.c_char_p),
    )


class Device(ctypes.Structure):
    _fields_ = (("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32))


class Raised(Exception):
    """An error of the host: `kind` and `message`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


def library_path() -> Path:
    """KERNPACK_LIBRARY; else the one of the kernpack package that would be imported; else that of a plain build."""
    if named := os.environ.get("KERNPACK_LIBRARY"):
        return Path(named)
    spec = importlib.util.find_spec("kernpack")
    if spec and spec.origin and (packaged := Path(spec.origin).parent / _FILE).exists():
        return packaged
    folders = (ROOT / "build" / "release", ROOT / "build" / "dev", *ROOT.glob("build-*"))
    built = [path for folder in folders if (path := folder / "ffi" / _FILE).exists()]
    if not built:
        raise FileNotFoundError(f"no {_FILE}: install the kernpack wheel, build a preset, or set KERNPACK_LIBRARY")
    return max(built, key=lambda path: path.stat().st_mtime)


@functools.cache
def lib() -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(library_path()))
    for name in ("name", "version", "sdk_version", "path", "digest"):
        getattr(loaded, f"kp_module_{name}").restype = ctypes.c_char_p
    loaded.kp_module_function_name.restype = ctypes.c_char_p
    for name in ("kp_module_function_at", "kp_module_function"):
        getattr(loaded, name).restype = ctypes.POINTER(LoadedFunction)
    loaded.kp_module_function.argtypes = (ctypes.c_void_p, Bytes)
    loaded.kp_function_find.argtypes = (Bytes, ctypes.c_void_p)
    loaded.kp_function_resolve.argtypes = (ctypes.c_void_p, Device, ctypes.c_void_p, ctypes.c_void_p)
    loaded.kp_version.restype = ctypes.c_char_p
    return loaded


def take_error(who: str = "test", rc: int = -1) -> Raised:
    value = Any()
    lib().kp_error_take(who.encode(), rc, ctypes.byref(value))
    error = ctypes.cast(value.bits, ctypes.POINTER(ErrorObject)).contents
    raised = Raised(error.kind.data.decode(), error.message.data.decode(errors="replace"))
    release(value)
    return raised


def check(rc: int) -> None:
    if rc != 0:
        raise take_error(rc=rc)


@functools.cache
def _deleter_type() -> type:
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int)


def release(value: Any) -> None:
    """Gives back one reference of an object nobody else shares with another thread."""
    if value.type_index < 64:
        return
    counts = ctypes.c_uint64.from_address(value.bits)
    counts.value -= 1
    if counts.value & 0xFFFFFFFF == 0:
        deleter = ctypes.c_void_p.from_address(value.bits + 16).value
        if deleter:
            _deleter_type()(deleter)(value.bits, 3)
    value.type_index = 0
    value.bits = 0


def get_text(value: Any) -> str:
    """The text of a string result; gives the reference back."""
    if value.type_index == 11:
        return value.bits.to_bytes(8, "little")[: value.small_len].decode()
    assert value.type_index == 65, value.type_index
    text = ctypes.cast(value.bits, ctypes.POINTER(StringObject)).contents.bytes
    copy = ctypes.string_at(text.data, text.size).decode()
    release(value)
    return copy


def load(*paths: str | os.PathLike[str], probe: bool = False) -> ctypes.c_void_p:
    module = ctypes.c_void_p()
    array = (ctypes.c_char_p * len(paths))(*[os.fsencode(p) for p in paths])
    check(lib().kp_module_load(array, len(paths), 1 if probe else 0, ctypes.byref(module)))
    return module


def function(module: ctypes.c_void_p, name: str) -> LoadedFunction:
    found = lib().kp_module_function(module, Bytes(name.encode(), len(name)))
    if not found and lib().kp_error_pending():
        raise take_error()
    if not found:
        raise KeyError(name)
    return found.contents


def names(module: ctypes.c_void_p) -> list[str]:
    count = lib().kp_module_function_count(module)
    return [lib().kp_module_function_name(module, i).decode() for i in range(count)]


_CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)


def call(callee: LoadedFunction, *args: Any) -> Any:
    """Calls the CPU variant with values as they are."""
    array = (Any * max(len(args), 1))(*args)
    result = Any()
    check(_CALL(callee.cpu_call)(callee.cpu_self, array, len(args), ctypes.byref(result)))
    return result


def integer(value: int) -> Any:
    return Any(1, 0, value & 0xFFFFFFFFFFFFFFFF)
