"""The parts of a shared object of any format, by address."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple


class Section(NamedTuple):
    name: str
    address: int
    data: Callable[[], bytes]


def read(segments: Iterable[tuple[int, bytes]], address: int, size: int) -> bytes:
    """Fewer bytes at a segment's end; none where nothing is mapped."""
    for begin, data in segments:
        if begin <= address < begin + len(data):
            return bytes(data[address - begin : address - begin + size])
    return b""
