"""The words of function tables that the dynamic linker leaves alone: they hold link-time addresses, and the host relocates what it
looks at (docs/abi.md, "Tables without relocations").
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping

MARK = 104  # of KpModule: spare[3], which holds the table's own link-time address
MOST = 100_000  # functions of a module
DEFINITION = 24  # bytes of a KpFunctionDef
_FUNCTIONS = (48, 56)  # of KpModule: begin and end
_NAME = 16  # of KpModule, always a pointer
_CALL, _INFO = 8, 16  # of KpFunctionDef
_OF_INFO = (8, 16, 24, 40, 48, 64)  # of KpFunctionInfo: target, signature, program, doc, cxx_types, attributes

Read = Callable[[int, int], bytes]


def word(read: Read, at: int) -> int:
    data = read(at, 8)
    return int(struct.unpack("<Q", data)[0]) if len(data) == 8 else 0


def bounds(pointers: Mapping[int, int], module: int) -> tuple[int, int] | None:
    """Begin and end of a module's table of functions."""
    begin, end = (pointers.get(module + offset) for offset in _FUNCTIONS)
    if begin is None or end is None or not begin <= end <= begin + DEFINITION * MOST:
        return None
    return begin, end


def words(begin: int, end: int, value: Callable[[int], int | None]) -> Iterator[int]:
    """The places of the table's pointers, and of those of the descriptions; `value` says what a pointer points to."""
    described = set()
    for at in range(begin, end, DEFINITION):
        yield from (at, at + _CALL, at + _INFO)
        described.add(value(at + _INFO) or 0)
    for info in sorted(described - {0}):
        yield from (info + offset for offset in _OF_INFO)


def pointers(read: Read, relocated: Mapping[int, int]) -> dict[int, int]:
    """Of each such word that isn't NULL, the address inside the file. `relocated`: those that the linker fills in."""
    found = {}
    for at in relocated:
        module = at - _NAME
        if module <= 0 or word(read, module + MARK) != module:
            continue
        table = bounds(relocated, module)
        for place in words(*table, lambda at: word(read, at)) if table else ():
            if target := word(read, place):
                found[place] = target
    return {at: target for at, target in found.items() if at not in relocated}
