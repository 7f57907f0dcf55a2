"""Which hosts a module or a backend runs on, from its file alone: nothing of it is loaded."""

from __future__ import annotations

import dataclasses
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from kernpack_sdk import abi
from kernpack_sdk.audit.image import Image

Version = abi.Version

# kernpack/service.h leaves one of these for each service newer than 1.0 that a module calls through its accessor.
_SERVICE = re.compile(rb"kernpack\.service:(\d+)\.(\d+):([a-z0-9_]+)\x00")
_LARGEST = 4096  # bytes of a table: more than any minor will have


@dataclasses.dataclass(frozen=True)
class _Table:
    """Where a struct of the ABI has what is read here: struct_size and abi_version come first."""

    smallest: int  # KP_<STRUCT>_SIZE_V1
    oldest: int  # the offset of min_host_abi
    pointers: tuple[int, ...]  # never NULL: the dynamic linker fills them in, which tells a table from other bytes
    zero: tuple[int, ...]  # 32-bit words that are always zero
    spare: dict[int, Version | None]  # the offset of each spare field, and the ABI that gave it a meaning


_MODULE = _Table(112, 8, (16, 24, 32), (12,), {80: None, 88: None, 96: None, 104: (1, 0)})  # KpModule
_BACKEND = _Table(96, 20, (8, 32), (), {64: None, 72: None, 80: None, 88: None})  # KpBackend


@dataclasses.dataclass(frozen=True)
class Hosts:
    """`oldest` loads the file; None where its table was not found, as where it is filled in at run time. `services`: what it
    calls that is newer than 1.0, with the ABI that brought it: an error where it is called, on a host that is older.
    `unknown`: it sets a field that a later ABI than this SDK's gave a meaning, so `oldest` is not the whole truth."""

    oldest: Version | None
    services: dict[str, Version]
    unknown: bool = False

    def __str__(self) -> str:
        if self.oldest is None:
            return "its oldest host isn't known, as its table is made at run time"
        if self.unknown:
            return (
                f"hosts of ABI {abi.text(abi.version())} refuse it, as it sets a field that was reserved then; a newer "
                "kernpack-sdk knows which hosts run it: pip install -U kernpack-sdk"
            )
        later = {name: since for name, since in self.services.items() if since > self.oldest}
        text = f"runs on hosts of ABI {abi.text(self.oldest)} and newer"
        if later:
            text += f" ({', '.join(f'{name} needs {abi.text(since)}' for name, since in sorted(later.items()))})"
        return text


def read(path: Path) -> Hosts:
    """ValueError if the file isn't a shared object."""
    content = path.read_bytes()
    services = {name.decode(): (int(major), int(minor)) for major, minor, name in _SERVICE.findall(content)}
    with Image(path) as image:
        relocated = {*image.pointers, *image.imports}
        found = {table for kind in (_MODULE, _BACKEND) for table in _tables(image, relocated, kind)}
    # A file may have tables for several majors.
    ours = [(oldest, unknown) for oldest, unknown in found if oldest[0] == abi.version()[0]]
    if not ours:
        return Hosts(None, services)
    # A plugin has a table for each of its backends; the file is as new as the newest of them.
    return Hosts(max(oldest for oldest, _ in ours), services, any(unknown for _, unknown in ours))


def _tables(image: Image, relocated: set[int], kind: _Table) -> Iterator[tuple[Version, bool]]:
    """The oldest host, and whether fields are set that nobody here knows, of whatever looks like such a table and is relocated
    like one."""
    for base, data in image.segments:
        # Only what lies before a relocation can be one.
        for pointer in relocated:
            at = pointer - kind.pointers[0] - base
            if at < 0 or at + kind.smallest > len(data):
                continue
            size, version = struct.unpack_from("<II", data, at)
            (oldest,) = struct.unpack_from("<I", data, at + kind.oldest)
            oldest = oldest or version & 0xFFFF0000  # 0: any of its major
            if size % 8 or not kind.smallest <= size <= _LARGEST or not 0 < oldest >> 16 == version >> 16 < 256:
                continue
            if any(data[at + word : at + word + 4] != bytes(4) for word in kind.zero):
                continue
            if all(base + at + other in relocated for other in kind.pointers):
                set_ = [
                    since
                    for offset, since in kind.spare.items()
                    if base + at + offset in relocated or data[at + offset : at + offset + 8] != bytes(8)
                ]
                stated = (oldest >> 16, oldest & 0xFFFF)
                yield max([stated, *(since for since in set_ if since)]), None in set_
