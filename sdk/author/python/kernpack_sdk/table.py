"""Reads the function table of a built module. Run as a program it prints the table as JSON; `read` does that in a child
process, because loading a shared object runs its static constructors. The table of a module for another machine, or that needs libraries of
other wheels, is read from the file.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernpack_sdk.shared_object import SharedObject


class _FunctionInfo(ctypes.Structure):  # KpFunctionInfo of kernpack/abi.h, as far as it is read here
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("kind", ctypes.c_uint32),
        ("target", ctypes.c_char_p),
        ("signature", ctypes.c_char_p),
        ("program", ctypes.c_void_p),
        ("program_words", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("doc", ctypes.c_char_p),
        ("cxx_types", ctypes.c_char_p),
    ]


class _FunctionDef(ctypes.Structure):  # KpFunctionDef
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("call", ctypes.c_void_p),
        ("info", ctypes.POINTER(_FunctionInfo)),
    ]


class _Module(ctypes.Structure):  # KpModule, likewise
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("abi_version", ctypes.c_uint32),
        ("min_host_abi", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("version", ctypes.c_char_p),
        ("sdk_version", ctypes.c_char_p),
        ("content_hash", ctypes.c_char_p),
        ("functions", ctypes.POINTER(_FunctionDef)),
        ("functions_end", ctypes.c_void_p),
        ("create", ctypes.c_void_p),
        ("destroy", ctypes.c_void_p),
        ("spare", ctypes.c_void_p * 4),
    ]


_KIND_FUNCTION = 0


@dataclasses.dataclass(frozen=True)
class Function:
    """One exported function, or one variant of it."""

    name: str
    target: str | None
    signature: str | None
    doc: str | None
    cxx_types: str | None


def read(path: Path) -> list[Function]:
    """The functions of a module, in the table's order; ValueError when it cannot be loaded, or is of another major of the ABI."""
    from kernpack_sdk import needs, shared_object

    so = _of_this_abi(path)
    # A library of another wheel need not be there when a module is built.
    if needs.of_object(so) or not shared_object.is_for_this_python(so):
        return _read_file(path)
    child = subprocess.run(
        [sys.executable, "-I", __file__, str(path)], capture_output=True, text=True, check=False, timeout=120
    )
    if child.returncode != 0:
        reason = child.stderr.strip().splitlines()
        raise ValueError(f"{path}: {reason[-1] if reason else f'loading it ended the process with {child.returncode}'}")
    entries = json.loads(child.stdout)
    return _read_file(path) if entries is None else [Function(**entry) for entry in entries]


def read_file(path: Path) -> list[Function]:
    """As `read` has them, of a file that nobody vouches for: nothing of it runs."""
    _of_this_abi(path)
    return _read_file(path)


def _of_this_abi(path: Path) -> SharedObject:
    # Imported here: the child runs this file as a program, isolated from wherever the package is.
    from kernpack_sdk import abi, shared_object

    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    so = shared_object.read(path)
    if refusal := abi.refusal(so.exports):
        raise ValueError(f"{path}: {refusal}")
    return so


def _read_file(path: Path) -> list[Function]:
    from kernpack_sdk import audit
    from kernpack_sdk.audit import tables

    with audit.Image(path) as image:
        variants = [each for module in tables.modules(image) for each in module.variants]
    return [Function(each.name, each.target, each.contract, each.doc, each.cxx_types) for each in variants]


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8")


def _load(path: str) -> list[dict[str, str | None]] | None:
    """None where the dynamic linker doesn't relocate the table."""
    query = ctypes.CDLL(os.path.abspath(path)).kp_module_v1  # a name alone would be looked for on the path of libraries
    query.restype = ctypes.POINTER(_Module)
    module = query().contents
    if module.spare[3]:
        return None
    begin = ctypes.cast(module.functions, ctypes.c_void_p).value or 0
    count = ((module.functions_end or 0) - begin) // ctypes.sizeof(_FunctionDef)
    plain = _FunctionInfo()
    defs = [module.functions[i] for i in range(count)]
    described = [(d, d.info.contents if d.info else plain) for d in defs]
    return [
        {
            "name": _text(d.name),
            "target": _text(info.target),
            "signature": _text(info.signature),
            "doc": _text(info.doc),
            "cxx_types": _text(info.cxx_types),
        }
        for d, info in described
        if info.kind == _KIND_FUNCTION
    ]


if __name__ == "__main__":
    print(json.dumps(_load(sys.argv[1])))
