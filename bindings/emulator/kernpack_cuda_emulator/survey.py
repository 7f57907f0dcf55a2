"""Which PTX instructions a file has, and which of them the emulated device doesn't run."""

from __future__ import annotations

import ctypes
import json
import re
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ._library import library

_FATBIN = struct.Struct("<IHHQ")  # magic, version, bytes of this header, bytes of what follows
_MAGIC = struct.pack("<I", 0xBA55ED50)
_PTX = re.compile(rb"\.version\s+\d+\.\d+\s+\.target\s+sm_[^\0]*")
_ANY_DEVICE = 1 << 20


class SurveyError(ValueError):
    """The file can't be read, or has no code for CUDA devices."""


@dataclass(frozen=True)
class Refusal:
    """An instruction that isn't emulated. The kernels of its module can't be loaded."""

    kernel: str  # that it is in, or the first that calls the function that it is in
    line: int  # of the PTX
    why: str


@dataclass(frozen=True)
class Code:
    """One text of PTX. An image without PTX that can be read has the `error` alone."""

    ptx: str = ""  # its version: "8.3"
    target: str = ""  # "sm_80"
    kernels: tuple[str, ...] = ()
    instructions: Counter[str] = field(
        default_factory=Counter
    )  # how often each is written, with its modifiers: "ld.global.nc.f32"
    refused: tuple[Refusal, ...] = ()
    error: str = ""


def survey(path: str | Path) -> list[Code]:
    """All PTX in a file: of each fatbin in a shared object, of a fatbin, a cubin or a text. Of a fatbin, that for the newest
    devices. Nothing is run. Raises SurveyError."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise SurveyError(f"{path}: can't be read: {error.strerror}") from error
    found = [_survey(image) for image in _images(data)]
    if not found:
        raise SurveyError(f"{path}: expected code for CUDA devices (a fatbin, or PTX); there is none in this file")
    return found


def _images(data: bytes) -> Iterator[bytes]:
    ends = 0
    for at in (match.start() for match in re.finditer(re.escape(_MAGIC), data)):
        if at < ends or at + _FATBIN.size > len(data):
            continue
        _, version, header, size = _FATBIN.unpack_from(data, at)
        if version == 1 and header == _FATBIN.size and size <= len(data) - at - header:
            yield from (text[0] for text in _PTX.finditer(data, ends, at))
            ends = at + header + size
            yield data[at:ends]
    yield from (text[0] for text in _PTX.finditer(data, ends))


def _survey(image: bytes) -> Code:
    function = library().kernpack_emulator_survey
    function.restype = ctypes.c_char_p
    said = json.loads(function(image + b"\0", ctypes.c_long(_ANY_DEVICE)))
    if "error" in said:
        return Code(error=said["error"])
    return Code(
        said["ptx"],
        said["target"],
        tuple(said["kernels"]),
        Counter(said["instructions"]),
        tuple(Refusal(**refused) for refused in said["refused"]),
    )
