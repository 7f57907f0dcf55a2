"""Which hosts a module runs on, from its file alone: nothing of it is loaded."""

from __future__ import annotations

import dataclasses
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection, RelrRelocationSection

Version = tuple[int, int]

# kernpack/service.h leaves one of these for each service newer than 1.0 that a module calls through its accessor.
_SERVICE = re.compile(rb"kernpack\.service:(\d+)\.(\d+):([a-z0-9_]+)\x00")

# KpModule of kernpack/abi.h begins with struct_size, abi_version, min_host_abi and a reserved word that is zero, then
# pointers to name, version and sdk_version, which the dynamic linker fills in.
_HEAD = struct.Struct("<IIII")
_POINTERS = (16, 24, 32)
_SMALLEST, _LARGEST = 112, 4096  # KP_MODULE_SIZE_V1, and more than any minor will have


@dataclasses.dataclass(frozen=True)
class Hosts:
    """`oldest` loads the module; None where its table was not found. `services`: what it calls that is newer than 1.0,
    with the ABI that brought it: an error where it is called, on a host that is older."""

    oldest: Version | None
    services: dict[str, Version]

    def __str__(self) -> str:
        if self.oldest is None:
            return "hosts not known"
        later = {name: since for name, since in self.services.items() if since > self.oldest}
        text = f"runs on hosts of ABI {_text(self.oldest)} and newer"
        if later:
            text += f" ({', '.join(f'{name} needs {_text(since)}' for name, since in sorted(later.items()))})"
        return text


def read(path: Path) -> Hosts:
    """ValueError when the file is no ELF file."""
    content = path.read_bytes()
    services = {name.decode(): (int(major), int(minor)) for major, minor, name in _SERVICE.findall(content)}
    with path.open("rb") as stream:
        try:
            found = set(_tables(ELFFile(stream)))
        except ELFError as error:
            raise ValueError(f"{path}: not an ELF shared object ({error})") from None
    return Hosts(found.pop() if len(found) == 1 else None, services)


def _text(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


def _tables(elf: ELFFile) -> Iterator[Version]:
    """min_host_abi of whatever looks like a KpModule and is relocated like one."""
    relocated = set(_relocated(elf))
    for segment in elf.iter_segments("PT_LOAD"):
        data = segment.data()
        base = segment["p_vaddr"]
        # Each table's name is relocated, so only what lies before a relocation can be one.
        for name in relocated:
            at = name - _POINTERS[0] - base
            if at < 0 or at + _HEAD.size > len(data):
                continue
            size, abi, oldest, reserved = _HEAD.unpack_from(data, at)
            if reserved or size % 8 or not _SMALLEST <= size <= _LARGEST or not 0 < oldest >> 16 == abi >> 16 < 256:
                continue
            if all(base + at + pointer in relocated for pointer in _POINTERS):
                yield oldest >> 16, oldest & 0xFFFF


def _relocated(elf: ELFFile) -> Iterator[int]:
    for section in elf.iter_sections():
        if isinstance(section, (RelocationSection, RelrRelocationSection)):
            for relocation in section.iter_relocations():
                yield relocation["r_offset"]
