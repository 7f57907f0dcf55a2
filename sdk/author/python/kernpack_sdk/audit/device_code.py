"""Code for devices inside a shared object: CUDA's fat binaries by architecture, bare cubins and PTX, and OpenCL source."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import struct
from collections.abc import Iterator

from kernpack_sdk.audit.image import Image

# A fat binary: this header, then entries of its size in total. Machine code (kind 2) and PTX (kind 1) of one architecture each.
_FATBIN = 0xBA55ED50
_HEADER = struct.Struct("<IHHQ")  # magic, version, bytes of this header, bytes of the entries
_ENTRY = struct.Struct(
    "<HHIQI4xHHI8xQ8xQ"
)  # kind, _, bytes of this header, bytes, compressed, minor and major version of the code, architecture, flags, unpacked
_IS_PTX = 1
_KINDS = {_IS_PTX: "compute", 2: "sm"}
_FATBIN_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
_ARCH_SPECIFIC, _FAMILY = 0x100000, 0x200000  # flags: 90a, 100f
_CUBIN = re.compile(rb"\x7fELF\x02\x01.{12}\xbe\x00", re.DOTALL)  # e_machine is EM_CUDA
_PTX = re.compile(rb"\.version\s+(\d+)\.(\d+)\s+\.target\s+sm_(\d+[af]?)")
_OPENCL = re.compile(rb"\b(?:__)?kernel\s+(?:__attribute__\s*\(\(.*?\)\)\s*)?void\s+\w+\s*\(")
_CUDA = re.compile(rb"kernpack\.cuda\.1\nkernels [^\0]*\nsource [^\0]*")  # a record of kernpack/device_source.h
_TEXT = re.compile(rb"[\t\n\r\x20-\x7e\x80-\xff]*")


@dataclasses.dataclass(frozen=True)
class DeviceCode:
    """All that a file holds of one kind."""

    kind: str  # "cubin", "ptx", "opencl" or "cuda": source that NVRTC compiles at its first use
    architecture: str | None  # "sm_90", "compute_80"; None of source
    images: int
    bytes: int  # in the file, compressed where it is
    unpacked_bytes: int
    cuda_driver: (
        str | None
    )  # the CUDA version of the oldest driver that takes it: "13.0"; None: 11 or older, or not CUDA


@dataclasses.dataclass(frozen=True)
class Entry:
    """One image in a fat binary; places count from the section's begin."""

    begin: int  # of the code, behind the entry's own header
    end: int  # behind it and its padding
    kind: str  # "cubin" or "ptx"
    architecture: str
    stored: int  # bytes of code, compressed where it is
    unpacked: int
    driver: tuple[int, int]  # the CUDA version of the oldest driver that takes it


def read(image: Image) -> list[DeviceCode]:
    """In the order of kinds and architectures."""
    sums: dict[tuple[str, str | None], tuple[int, int, int]] = {}
    drivers: dict[tuple[str, str | None], _Version] = {}
    for kind, architecture, size, unpacked, driver in _found(image):
        key = kind, architecture
        images, stored, full = sums.get(key, (0, 0, 0))
        sums[key] = images + 1, stored + size, full + unpacked
        drivers[key] = max(driver, drivers.get(key, _ANY))
    rows = [DeviceCode(*key, *total, _words(drivers[key])) for key, total in sums.items()]
    return sorted(rows, key=lambda row: (row.kind, _number(row.architecture), row.architecture or ""))


def count_duplicates(image: Image) -> int:
    """Bytes of images in fat binaries that an earlier one in the file has, too."""
    seen: set[bytes] = set()
    total = 0
    for section in image.elf.iter_sections():
        if section.name.startswith(_FATBIN_SECTIONS):
            data = section.data()
            for each in entries(data):
                digest = hashlib.sha256(data[each.begin : each.begin + each.stored]).digest()
                total += each.stored if digest in seen else 0
                seen.add(digest)
    return total


def _number(architecture: str | None) -> int:
    found = re.search(r"\d+", architecture or "")
    return int(found[0]) if found else 0


_Version = tuple[int, int]
_ANY = (11, 99)  # every driver that Kernpack runs on
_Found = tuple[str, str | None, int, int, _Version]


def _words(driver: _Version) -> str | None:
    return "{}.{}".format(*driver) if driver > _ANY else None


def _driver_of_ptx(major: int, minor: int) -> _Version:
    """Which CUDA version brought this version of PTX, by the release notes in NVIDIA's PTX ISA manual."""
    if (major, minor) >= (9, 0):
        return major + 4, minor
    return (12, minor + 1 if minor > 5 else minor) if major == 8 else _ANY


# The architectures that CUDA 12 knew already in the new format, with the release that brought each (NVIDIA's nvcc manual).
_NEW_FORMAT_IN_12 = {100: (12, 8), 101: (12, 8), 120: (12, 8), 103: (12, 9), 121: (12, 9)}


def _driver_of_cubin(abi: int, architecture: int) -> _Version:
    """Machine code runs on drivers of its toolkit's major version. ELF's ABI version 8 came with Blackwell in CUDA 12.8; since
    CUDA 13 all architectures have it, so code for Blackwell alone doesn't tell the two apart: then this is the older one."""
    return _NEW_FORMAT_IN_12.get(architecture, (13, 0)) if abi >= 8 else _ANY


def _found(image: Image) -> Iterator[_Found]:
    for section in image.elf.iter_sections():
        if section.name.startswith(_FATBIN_SECTIONS):
            yield from _fatbins(section.data())
        elif section.name.startswith((".rodata", ".data")):
            data = section.data()
            yield from _fatbins(data)
            yield from _bare(data)


def _fatbins(data: bytes) -> Iterator[_Found]:
    for each in entries(data):
        yield each.kind, each.architecture, each.stored, each.unpacked, each.driver


def entries(data: bytes) -> Iterator[Entry]:
    """The images of all fat binaries in a section, in order. Reading ends where sizes lead out of it."""
    magic = struct.pack("<I", _FATBIN)
    at = data.find(magic)
    while at >= 0:
        end = at + 4
        if at + _HEADER.size <= len(data):
            _, version, header, size = _HEADER.unpack_from(data, at)
            if version == 1 and header >= _HEADER.size and at + header + size <= len(data):
                end = at + header + size
                yield from _entries_of_one(data, at + header, end)
        at = data.find(magic, end)


def _entries_of_one(data: bytes, at: int, end: int) -> Iterator[Entry]:
    while at + _ENTRY.size <= end:
        kind, _, header, size, packed, minor, major, number, flags, unpacked = _ENTRY.unpack_from(data, at)
        if header < _ENTRY.size or at + header + size > end:
            return
        if prefix := _KINDS.get(kind):
            suffix = "a" if flags & _ARCH_SPECIFIC else "f" if flags & _FAMILY else ""
            stored = packed or size
            is_ptx = kind == _IS_PTX
            yield Entry(
                begin=at + header,
                end=at + header + size,
                kind="ptx" if is_ptx else "cubin",
                architecture=f"{prefix}_{number}{suffix}",
                stored=stored,
                unpacked=unpacked if packed else stored,
                driver=_driver_of_ptx(major, minor) if is_ptx else _driver_of_cubin(minor, number),
            )
        at += header + size


def _bare(data: bytes) -> Iterator[_Found]:
    """Device code that is stored uncompressed: DEVICE_CODE, and generated code."""
    for found in _CUBIN.finditer(data):
        size, architecture = _cubin(data[found.start() :])
        if size:
            yield "cubin", architecture, size, size, _driver_of_cubin(data[found.start() + 8], _number(architecture))
    for found in _PTX.finditer(data):
        size = len(_run(data, found.start()))
        driver = _driver_of_ptx(int(found[1]), int(found[2]))
        yield "ptx", f"compute_{found[3].decode()}", size, size, driver
    for text in dict.fromkeys(found[0] for found in _CUDA.finditer(data)):
        yield "cuda", None, len(text), len(text), _ANY
    seen = -1
    for found in _OPENCL.finditer(data):
        if found.start() < seen:
            continue
        run = _run(data, found.start(), whole=True)
        seen = found.start() + len(run)
        yield "opencl", None, len(run), len(run), _ANY


def _cubin(data: bytes) -> tuple[int, str | None]:
    """Its size, from its section headers, and its architecture, which its flags hold in one of two places."""
    if len(data) < 64:
        return 0, None
    segments, sections, flags = struct.unpack_from("<QQI", data, 32)
    segment_size, segment_count, section_size, section_count = struct.unpack_from("<HHHH", data, 54)
    size = max(segments + segment_size * segment_count, sections + section_size * section_count)
    number = flags & 0xFF if data[8] < 8 else (flags >> 8) & 0xFFFF  # the ABI version says which
    return (size, f"sm_{number}") if 64 <= size <= len(data) else (0, None)


def _run(data: bytes, at: int, *, whole: bool = False) -> bytes:
    """The text around a place: from there on, or all of it. Constants that follow without a NUL begin behind its last line."""
    found = _TEXT.match(data, at)
    end = found.end() if found else at
    begin = at
    while whole and begin > 0 and _TEXT.fullmatch(data, begin - 1, begin):
        begin -= 1
    text = data[begin:end]
    last = text.rfind(b"}")
    return text[: last + 1] if last >= 0 else text
