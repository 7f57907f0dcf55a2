"""Reads the kernels of a cubin: an ELF file with a section .nv.info.<kernel> for each, of rows that NVIDIA doesn't describe.

Their form is that of `cuobjdump -elf`: format, attribute, then a size and as many bytes, or a value of 2.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from kernpack_compiler._imports._entry import Entry, Parameter

_MACHINE = 190  # EM_CUDA
_SIZED = 4  # a row whose value is a size and as many bytes
_PARAMETER = 0x17
_THREADS = 0x10
_MOST_THREADS = 0x05
_EXPLICIT_CLUSTER = 0x3E
_BLOCKS_OF_CLUSTER = 0x3D


def read(data: bytes, where: str) -> tuple[int, dict[str, Entry]]:
    """The number of its architecture, 90, and its kernels."""
    try:
        return _read(data, where)
    except struct.error as error:
        raise ValueError(f"{where}: the cubin is truncated or damaged: {error}") from error


def _read(data: bytes, where: str) -> tuple[int, dict[str, Entry]]:
    machine = struct.unpack_from("<H", data, 18)[0]
    if data[4] != 2 or machine != _MACHINE:
        raise ValueError(f"{where}: expected a cubin, which is an ELF file for CUDA, got one for machine {machine}")
    flags = struct.unpack_from("<I", data, 48)[0]
    number = flags >> 8 & 0xFF if data[8] >= 8 else flags & 0xFF  # version 8 of the ABI came with CUDA 13
    sections = dict(_sections(data))
    entries = {}
    for name in sections:
        if name.startswith(".text."):
            kernel = name.removeprefix(".text.")
            info = sections.get(f".nv.info.{kernel}", b"")
            entries[kernel] = _entry(kernel, info)
    return number, entries


def _sections(data: bytes) -> Iterator[tuple[str, bytes]]:
    table = struct.unpack_from("<Q", data, 40)[0]
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    if names >= count:
        raise struct.error("it has no names of sections")
    texts = headers[names][4]
    for name, kind, _, _, offset, length in headers:
        end = data.find(b"\0", texts + name)
        holds = kind != 8  # SHT_NOBITS
        if end < 0 or (holds and offset + length > len(data)):
            raise struct.error("a section lies beyond its end")
        yield data[texts + name : end].decode("ascii", "replace"), data[offset : offset + length] if holds else b""


def _entry(kernel: str, info: bytes) -> Entry:
    parameters: dict[int, Parameter] = {}
    exact: tuple[int, int, int] | None = None
    most = 0
    cluster = set()
    for attribute, value in _rows(info):
        if attribute == _PARAMETER:
            _, ordinal, _, bits = struct.unpack_from("<IHHI", value)
            size = bits >> 18
            parameters[ordinal] = Parameter(size, "", f"{size} bytes")
        elif attribute == _THREADS:
            x, y, z = struct.unpack_from("<III", value)
            exact = (x, y, z)
            most = x * y * z
        elif attribute == _MOST_THREADS and not most:
            x, y, z = struct.unpack_from("<III", value)
            most = x * y * z
        elif attribute in (_EXPLICIT_CLUSTER, _BLOCKS_OF_CLUSTER):
            cluster.add(attribute)
    needs_cluster = cluster == {_EXPLICIT_CLUSTER}
    return Entry(kernel, tuple(parameters[i] for i in sorted(parameters)), exact, most, needs_cluster)


def _rows(info: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        length = size if form == _SIZED else 0
        yield attribute, info[at + 4 : at + 4 + length]
        at += 4 + length
