"""Takes the relocations of a module's function table out of its file: `python -m kernpack_sdk.unrelocate MODULE.so`, which
kernpack_add_module(... MANY_FUNCTIONS) runs after the link. The dynamic linker then writes nothing into the table, which otherwise
takes most of the time of a load of thousands of functions. docs/abi.md describes what the file then has.
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from kernpack_sdk.audit import tables, unrelocated
from kernpack_sdk.audit.image import Image

_RELATIVE = {"EM_X86_64": 8, "EM_AARCH64": 1027}
_ABSOLUTE = {"EM_X86_64": 1, "EM_AARCH64": 257}  # of a symbol, which is the file's own
_RELA, _RELA_SIZE, _RELATIVE_COUNT = 7, 8, 0x6FFFFFF9  # tags of the dynamic section
_ENTRY = struct.Struct("<QQq")  # Elf64_Rela


def write(path: Path) -> int:
    """The number of relocations that were taken out. ValueError where the file has none of these tables, or can't do without the
    linker's help. The file is replaced as a whole."""
    with Image(path) as image:
        modules = tables.places(image)
        if len(modules) != 1:
            raise ValueError(f"{path}: expected one KpModule, found {len(modules)}; declare KP_MODULE once")
        (module,) = modules
        if unrelocated.word(image.read, module + unrelocated.MARK) == module:
            return 0
        table = unrelocated.bounds(image.pointers, module)
        if table is None:
            raise ValueError(f"{path}: its function table isn't inside the file")
        names = {at: image.text(image.pointer(at) or 0) for at in range(*table, unrelocated.DEFINITION)}
        if None in names.values():
            raise ValueError(f"{path}: its function table has a line without a name; give each KpFunctionDef one")
        values = {}
        for at in unrelocated.words(*table, image.pointer):
            if at in image.imports:
                raise ValueError(
                    f"{path}: the function table points to {image.imports[at]} of another library; export a function of the "
                    "module's own that calls it, or leave MANY_FUNCTIONS out"
                )
            if (value := image.pointer(at)) is not None:
                values[at] = value
    with path.open("rb") as stream:
        content = _Content(path, ELFFile(stream), bytearray(path.read_bytes()))
    content.remove(values)
    for at, value in (*values.items(), (module + unrelocated.MARK, module)):
        content.put(at, value)
    content.reorder(table[0], unrelocated.DEFINITION, sorted(names, key=lambda at: str(names[at]).encode()))
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_bytes(content.data)
    beside.chmod(path.stat().st_mode)
    beside.replace(path)
    return len(values)


class _Content:
    """A file's bytes, which are edited."""

    def __init__(self, path: Path, elf: Any, data: bytearray) -> None:
        self.path, self.data = path, data
        self._machine = elf["e_machine"]
        if self._machine not in _RELATIVE:
            raise ValueError(
                f"{path}: expected a file for x86-64 or aarch64, got {self._machine}; leave MANY_FUNCTIONS out"
            )
        self._segments = [(s["p_vaddr"], s["p_offset"], s["p_filesz"]) for s in elf.iter_segments("PT_LOAD")]
        dynamic = elf.get_section_by_name(".dynamic")
        self._dynamic = dynamic["sh_offset"]
        self._headers = [
            (s["sh_addr"], elf["e_shoff"] + i * elf["e_shentsize"]) for i, s in enumerate(elf.iter_sections())
        ]

    def _place(self, address: int) -> int:
        for begin, offset, size in self._segments:
            if begin <= address < begin + size:
                return int(offset + address - begin)
        raise ValueError(f"{self.path}: address {address:#x} isn't in the file")

    def put(self, address: int, value: int) -> None:
        struct.pack_into("<Q", self.data, self._place(address), value)

    def reorder(self, begin: int, size: int, lines: list[int]) -> None:
        """Puts the lines of these addresses there, one behind the other."""
        moved = [bytes(self.data[place : place + size]) for place in map(self._place, lines)]
        for number, line in enumerate(moved):
            at = self._place(begin + number * size)
            self.data[at : at + size] = line

    def _tag(self, tag: int) -> int | None:
        """Where the value of an entry of the dynamic section is."""
        at = self._dynamic
        while (found := struct.unpack_from("<q", self.data, at)[0]) != 0:
            if found == tag:
                return at + 8
            at += 16
        return None

    def remove(self, words: dict[int, int]) -> None:
        """The relocations of these words."""
        address, size = (self._tag(tag) for tag in (_RELA, _RELA_SIZE))
        if address is None or size is None:
            raise ValueError(f"{self.path}: it has no relocations with addends")
        (begin,), (bytes_,) = (struct.unpack_from("<Q", self.data, at) for at in (address, size))
        at = self._place(begin)
        kept, removed, relative = [], set(), 0
        for entry in _ENTRY.iter_unpack(bytes(self.data[at : at + bytes_])):
            kind = entry[1] & 0xFFFFFFFF
            if entry[0] in words and kind in (_RELATIVE[self._machine], _ABSOLUTE[self._machine]):
                removed.add(entry[0])
                relative += kind == _RELATIVE[self._machine]
            else:
                kept.append(_ENTRY.pack(*entry))
        if missing := words.keys() - removed:
            raise ValueError(
                f"{self.path}: {len(missing)} relocations of its function table are of a kind that can't be taken out; link "
                "without -Wl,-z,pack-relative-relocs and without indirect functions, or leave MANY_FUNCTIONS out"
            )
        new = b"".join(kept)
        self.data[at : at + bytes_] = new.ljust(bytes_, b"\0")
        struct.pack_into("<Q", self.data, size, len(new))
        if (count := self._tag(_RELATIVE_COUNT)) is not None:
            struct.pack_into("<Q", self.data, count, struct.unpack_from("<Q", self.data, count)[0] - relative)
        for section, header in self._headers:
            if section == begin:
                struct.pack_into("<Q", self.data, header + 32, len(new))


def main(arguments: list[str]) -> int:
    try:
        for path in arguments:
            write(Path(path))
    except (OSError, ValueError) as error:
        print(f"kernpack_add_module: MANY_FUNCTIONS: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
