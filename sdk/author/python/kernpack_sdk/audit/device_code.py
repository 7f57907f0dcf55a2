"""Code for devices inside a shared object: CUDA's fat binaries by architecture, bare cubins and PTX, and OpenCL source."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import struct
from collections.abc import Iterator

from kernpack_sdk.audit import fatbin
from kernpack_sdk.audit.image import Image

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


def read(image: Image) -> list[DeviceCode]:
    """In the order of kinds and architectures."""
    sums: dict[tuple[str, str | None], tuple[int, int, int]] = {}
    drivers: dict[tuple[str, str | None], fatbin.Version] = {}
    for kind, architecture, size, unpacked, driver in _found(image):
        key = kind, architecture
        images, stored, full = sums.get(key, (0, 0, 0))
        sums[key] = images + 1, stored + size, full + unpacked
        drivers[key] = max(driver, drivers.get(key, fatbin.ANY_DRIVER))
    rows = [DeviceCode(*key, *total, _words(drivers[key])) for key, total in sums.items()]
    return sorted(rows, key=lambda row: (row.kind, _number(row.architecture), row.architecture or ""))


def count_duplicates(image: Image) -> int:
    """Bytes of images in fat binaries that an earlier one in the file has, too."""
    seen: set[bytes] = set()
    total = 0
    for section in image.sections():
        if section.name.startswith(fatbin.SECTIONS):
            data = section.data()
            for each in fatbin.entries(data):
                digest = hashlib.sha256(data[each.begin : each.begin + each.stored]).digest()
                total += each.stored if digest in seen else 0
                seen.add(digest)
    return total


def _number(architecture: str | None) -> int:
    found = re.search(r"\d+", architecture or "")
    return int(found[0]) if found else 0


_Found = tuple[str, str | None, int, int, fatbin.Version]


def _words(driver: fatbin.Version) -> str | None:
    return "{}.{}".format(*driver) if driver > fatbin.ANY_DRIVER else None


def _found(image: Image) -> Iterator[_Found]:
    for section in image.sections():
        if section.name.startswith(fatbin.SECTIONS):
            yield from _fatbins(section.data())
        elif section.name.startswith((".rodata", ".rdata", ".data")):
            data = section.data()
            yield from _fatbins(data)
            yield from _bare(data)


def _fatbins(data: bytes) -> Iterator[_Found]:
    for each in fatbin.entries(data):
        yield each.kind, each.architecture, each.stored, each.unpacked, each.driver


def _bare(data: bytes) -> Iterator[_Found]:
    """Device code that is stored uncompressed: DEVICE_CODE, and generated code."""
    for found in _CUBIN.finditer(data):
        size, architecture = _cubin(data[found.start() :])
        if size:
            yield (
                "cubin",
                architecture,
                size,
                size,
                fatbin.driver_of_cubin(data[found.start() + 8], _number(architecture)),
            )
    for found in _PTX.finditer(data):
        # The PTX of a stand-in is a part of the source's record.
        size = len(_run(data, found.start()).partition(b"\nend of stand-in\n")[0])
        driver = fatbin.driver_of_ptx(int(found[1]), int(found[2]))
        yield "ptx", f"compute_{found[3].decode()}", size, size, driver
    for text in dict.fromkeys(found[0] for found in _CUDA.finditer(data)):
        yield "cuda", None, len(text), len(text), fatbin.ANY_DRIVER
    seen = -1
    for found in _OPENCL.finditer(data):
        if found.start() < seen:
            continue
        run = _run(data, found.start(), whole=True)
        seen = found.start() + len(run)
        yield "opencl", None, len(run), len(run), fatbin.ANY_DRIVER


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
