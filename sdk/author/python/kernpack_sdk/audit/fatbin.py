"""CUDA's fat binaries: the containers that nvcc puts machine code and PTX into, one image for each architecture."""

from __future__ import annotations

import dataclasses
import re
import struct
from collections.abc import Iterator

# A fat binary: this header, then entries of its size in total. Machine code (kind 2) and PTX (kind 1) of one architecture each.
MAGIC = 0xBA55ED50
HEADER = struct.Struct("<IHHQ")  # magic, version, bytes of this header, bytes of the entries
ENTRY = struct.Struct(
    "<HHIQI4xHHI8xQ8xQ"
)  # kind, _, bytes of this header, bytes, compressed, minor and major version of the code, architecture, flags, unpacked
SECTIONS = (".nv_fatbin", "__nv_relfatbin")  # their names begin so
_IS_PTX = 1
_KINDS = {_IS_PTX: "compute", 2: "sm"}
_NOT_ZERO = re.compile(rb"[^\0]")
_ARCH_SPECIFIC, _FAMILY = 0x100000, 0x200000  # flags: 90a, 100f

Version = tuple[int, int]
ANY_DRIVER = (11, 99)  # every driver that Kernpack runs on


@dataclasses.dataclass(frozen=True)
class Entry:
    """One image in a fat binary; places count from the section's begin."""

    start: int  # of the entry's own header
    begin: int  # of the code, behind that header
    end: int  # behind it and its padding
    kind: str  # "cubin" or "ptx"
    architecture: str
    stored: int  # bytes of code, compressed where it is
    unpacked: int
    driver: Version  # the CUDA version of the oldest driver that takes it


@dataclasses.dataclass(frozen=True)
class Container:
    """A whole fat binary, all of whose entries lie inside it; places count from the section's begin."""

    start: int
    begin: int  # of its entries, behind its header
    end: int
    entries: tuple[Entry, ...]


def entries(data: bytes) -> Iterator[Entry]:
    """The images of all fat binaries in a section, in order. Reading ends where sizes lead out of it."""
    magic = struct.pack("<I", MAGIC)
    at = data.find(magic)
    while at >= 0:
        end = at + 4
        found = _bounds(data, at)
        if found:
            begin, end = found
            for each in _entries_of_one(data, begin, end):
                if each.kind:
                    yield each
        at = data.find(magic, end)


def containers(data: bytes) -> Iterator[Container]:
    """All of a section: fat binaries, and zeros between them. ValueError for anything else, so that nothing in it is overlooked."""
    at = 0
    while following := _NOT_ZERO.search(data, at):
        at = following.start()
        found = _bounds(data, at) if data.startswith(struct.pack("<I", MAGIC), at) else None
        if found is None:
            raise ValueError(f"expected a fat binary at byte {at}, got something else")
        begin, end = found
        inside = tuple(_entries_of_one(data, begin, end))
        covered = inside[-1].end if inside else begin
        if covered != end:
            raise ValueError(f"the fat binary at byte {at} has an entry at byte {covered} that doesn't fit into it")
        yield Container(at, begin, end, inside)
        at = end


def container_at(data: bytes, at: int) -> Container | None:
    """The fat binary that begins there, if all of its entries are whole and of known kinds."""
    found = _bounds(data, at)
    if found is None:
        return None
    inside = tuple(_entries_of_one(data, *found))
    is_whole = bool(inside) and inside[-1].end == found[1] and all(each.kind for each in inside)
    return Container(at, *found, inside) if is_whole else None


def _bounds(data: bytes, at: int) -> tuple[int, int] | None:
    """Where the entries of the fat binary at this place begin and end; None if it isn't one, or leads out of the section."""
    if at + HEADER.size > len(data):
        return None
    _, version, header, size = HEADER.unpack_from(data, at)
    begin = at + header
    return (begin, begin + size) if version == 1 and header >= HEADER.size and begin + size <= len(data) else None


def _entries_of_one(data: bytes, at: int, end: int) -> Iterator[Entry]:
    """Of other kinds than machine code and PTX, such as code for the linker's optimizer, too: `kind` is "" then."""
    while at + ENTRY.size <= end:
        kind, _, header, size, packed, minor, major, number, flags, unpacked = ENTRY.unpack_from(data, at)
        if header < ENTRY.size or at + header + size > end:
            return
        suffix = "a" if flags & _ARCH_SPECIFIC else "f" if flags & _FAMILY else ""
        stored = packed or size
        is_ptx = kind == _IS_PTX
        yield Entry(
            start=at,
            begin=at + header,
            end=at + header + size,
            kind="" if kind not in _KINDS else "ptx" if is_ptx else "cubin",
            architecture=f"{_KINDS.get(kind, f'kind {kind}')}_{number}{suffix}",
            stored=stored,
            unpacked=unpacked if packed else stored,
            driver=driver_of_ptx(major, minor) if is_ptx else driver_of_cubin(minor, number),
        )
        at += header + size


def driver_of_ptx(major: int, minor: int) -> Version:
    """Which CUDA version brought this version of PTX, by the release notes in NVIDIA's PTX ISA manual."""
    if (major, minor) >= (9, 0):
        return major + 4, minor
    return (12, minor + 1 if minor > 5 else minor) if major == 8 else ANY_DRIVER


# The architectures that CUDA 12 knew already in the new format, with the release that brought each (NVIDIA's nvcc manual).
_NEW_FORMAT_IN_12 = {100: (12, 8), 101: (12, 8), 120: (12, 8), 103: (12, 9), 121: (12, 9)}


def driver_of_cubin(abi: int, architecture: int) -> Version:
    """Machine code runs on drivers of its toolkit's major version. ELF's ABI version 8 came with Blackwell in CUDA 12.8; since
    CUDA 13 all architectures have it, so code for Blackwell alone doesn't tell the two apart: then this is the older one."""
    return _NEW_FORMAT_IN_12.get(architecture, (13, 0)) if abi >= 8 else ANY_DRIVER
