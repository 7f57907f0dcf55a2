"""Machine code that `kernpack split` takes out of fat binaries, by compute capability, and the entry that says where it went."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from kernpack_sdk.audit import fatbin
from kernpack_sdk.slim import file
from kernpack_sdk.slim.choice import Choice, number_of, spelled

SECTION = ".nv_fatbin.kernpack"  # DEVICE_CODE, which the CUDA backend loads; sdk/author/cmake/kernpack_device_code.cmake names it
_KIND = 0x4B50  # of the entry that lists packs; CUDA has none of this number
_LIST = "kernpack.packs.1\n"
_HEADER = 64
_ALIGNED = 8


@dataclasses.dataclass(frozen=True)
class Division(Choice):
    """Machine code goes into packs. PTX stays, or that of `ptx` alone."""

    folder: Path = Path()  # below which packs are written: folder/90/<digest>.fatbin
    base: str = ""  # the distribution, "my-kernels"
    version: str = ""

    def keep(self, data: bytes, entries: Sequence[fatbin.Entry], section: str = "") -> list[bool]:
        """All of a fat binary that is too small to hold the list of its packs."""
        if not section.startswith(SECTION):
            return [True] * len(entries)
        stays = [not self._goes(each) for each in entries]
        free = sum(each.end - each.start for each, stay in zip(entries, stays, strict=True) if not stay)
        return stays if free >= len(self.added(data, entries, section)) else [True] * len(entries)

    def added(self, data: bytes, entries: Sequence[fatbin.Entry], section: str) -> bytes:
        """The list of packs: a pack's file is named by the digest of its content, so base and pack can't be of different builds."""
        lines = [
            f"sm_{number} {hashlib.sha256(content).hexdigest()} {pack_name(self.base, number)}=={self.version}\n"
            for number, content in self.packs(data, entries)
        ]
        text = "".join([_LIST, *lines]).encode()
        text += bytes(-len(text) % _ALIGNED)
        return fatbin.ENTRY.pack(_KIND, 257, _HEADER, len(text), 0, 0, 0, 0, 0, 0).ljust(_HEADER, b"\0") + text

    def packs(self, data: bytes, entries: Sequence[fatbin.Entry]) -> Iterator[tuple[int, bytes]]:
        """By compute capability: a fat binary of what goes."""
        gone = [each for each in entries if self._goes(each)]
        for number in sorted({number_of(each) for each in gone}):
            body = b"".join(data[each.start : each.end] for each in gone if number_of(each) == number)
            yield number, fatbin.HEADER.pack(fatbin.MAGIC, 1, fatbin.HEADER.size, len(body)) + body

    def write(self, data: bytes, entries: Sequence[fatbin.Entry]) -> None:
        for number, content in self.packs(data, entries):
            path = self.folder / str(number) / f"{hashlib.sha256(content).hexdigest()}.fatbin"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def finds(self, entries: Sequence[fatbin.Entry]) -> list[fatbin.Entry]:
        return list(entries)

    def _goes(self, entry: fatbin.Entry) -> bool:
        is_left_out = entry.kind == "ptx" and bool(self.ptx) and spelled(entry) not in self.ptx
        return entry.kind == "cubin" or is_left_out


def listed(path: Path) -> list[dict[str, str]]:
    """The packs that a divided shared object names: their architectures and wheels."""
    found = {}
    for _, data, entries in file.fat_binaries(path):
        for each in entries:
            text = data[each.begin : each.end].rstrip(b"\0").decode("utf-8", "replace")
            if not each.kind and text.startswith(_LIST):
                for line in text.removeprefix(_LIST).splitlines():
                    architecture, _, wheel = (*line.split(" ", 2), "", "")[:3]
                    found[architecture, wheel] = {"architecture": architecture, "wheel": wheel}
    return list(found.values())


def pack_name(base: str, number: int) -> str:
    return f"{base}-cu-sm{number}"
