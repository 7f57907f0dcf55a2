"""Reads the kernels of PTX: https://docs.nvidia.com/cuda/parallel-thread-execution/#kernel-and-function-directives-entry."""

from __future__ import annotations

import re

from kernpack_compiler._imports._entry import Entry, Parameter

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TARGET = re.compile(r"^\s*\.target\s+(sm_\d+[af]?)", re.MULTILINE)
# The name, the parameters, and the directives before the body.
_ENTRY = re.compile(r"\.entry\s+([\w$%]+)\s*(?:\(([^)]*)\))?([^{;]*)[{;]")
_PARAMETER = re.compile(r"\.param\s+((?:\.\w+(?:\s+\d+)?\s+)+)([\w$%]+)\s*(?:\[\s*(\d+)\s*\])?$")
_TYPE = re.compile(r"[usbf](8|16|32|64|128)")
_THREADS = re.compile(r"\.(reqntid|maxntid)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")


def read(data: bytes, where: str) -> tuple[str, dict[str, Entry]]:
    """The architecture of its .target line, "sm_90a", and its kernels."""
    try:
        text = _COMMENT.sub("", data.decode().rstrip("\0"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{where}: expected PTX or a cubin, got {len(data)} bytes that are neither") from error
    target = _TARGET.search(text)
    if target is None:
        raise ValueError(f"{where}: expected PTX, got text without a line such as '.target sm_80'")
    entries = (_entry(found, where) for found in _ENTRY.finditer(text))
    return target[1], {entry.name: entry for entry in entries}


def _entry(found: re.Match[str], where: str) -> Entry:
    name, parameters, directives = found[1], (found[2] or "").strip(), found[3]
    exact: tuple[int, int, int] | None = None
    most = 0
    for limit in _THREADS.finditer(directives):
        x, y, z = (int(extent or 1) for extent in limit.groups()[1:])
        if limit[1] == "reqntid":
            exact = (x, y, z)
        most = x * y * z
    made = tuple(_parameter(text.strip(), name, where) for text in parameters.split(",")) if parameters else ()
    return Entry(name, made, exact, most, ".explicitcluster" in directives and ".reqnctapercluster" not in directives)


def _parameter(text: str, kernel: str, where: str) -> Parameter:
    found = _PARAMETER.match(text)
    types = [t for t in re.findall(r"\.(\w+)", found[1]) if _TYPE.fullmatch(t)] if found else []
    if found is None or len(types) != 1:
        raise ValueError(f"{where}: kernel '{kernel}': the parameter '{text}' isn't understood")
    size = int(types[0][1:]) // 8 * int(found[3] or 1)
    array = f"[{found[3]}]" if found[3] else ""
    return Parameter(size, types[0] if not array else "array", f".{types[0]}{array}")
