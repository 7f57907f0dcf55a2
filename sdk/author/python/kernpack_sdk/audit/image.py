"""A shared object as the dynamic linker would map it: bytes by address, relocations, where functions begin."""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection, RelrRelocationSection
from elftools.elf.sections import SymbolTableSection

_EXECUTABLE = 0x4  # SHF_EXECINSTR
_SDATA4_FROM_HEADER = 0x3B  # DW_EH_PE_datarel | DW_EH_PE_sdata4: how linkers write the table of .eh_frame_hdr


_FUNCTION = 2  # STT_FUNC


class _Symbol(NamedTuple):
    name: str
    value: int
    is_here: bool  # not another file's
    is_function: bool


class Image:
    """ValueError where the file isn't one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream = path.open("rb")
        try:
            self.elf: Any = ELFFile(self._stream)
            if self.elf.elfclass != 64 or not self.elf.little_endian:
                raise ELFError("not of a 64-bit little-endian machine")
            self.segments = [(s["p_vaddr"], s.data()) for s in self.elf.iter_segments("PT_LOAD")]
        except ELFError as error:
            self._stream.close()
            raise ValueError(f"{path}: not an ELF shared object ({error})") from None

    def __enter__(self) -> Image:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    @cached_property
    def has_stack_header(self) -> bool:
        return any(self.elf.iter_segments("PT_GNU_STACK"))

    @property
    def is_x86_64(self) -> bool:
        return bool(self.elf["e_machine"] == "EM_X86_64")

    def read(self, address: int, size: int) -> bytes:
        """Fewer bytes at a segment's end; none where nothing is mapped."""
        for begin, data in self.segments:
            if begin <= address < begin + len(data):
                return bytes(data[address - begin : address - begin + size])
        return b""

    def text(self, address: int) -> str | None:
        for begin, data in self.segments:
            if begin <= address < begin + len(data):
                end = data.find(b"\0", address - begin)
                return data[address - begin : end].decode("utf-8", "replace") if end >= 0 else None
        return None

    def pointer(self, address: int) -> int | None:
        """The address that the linker writes there; None if it writes nothing, or the address of another file's symbol."""
        return self.pointers.get(address)

    @cached_property
    def _relocations(self) -> tuple[dict[int, int], dict[int, str]]:
        """By hand: a large library has hundreds of thousands, which pyelftools takes minutes for."""
        pointers, names = {}, {}
        for section in self.elf.iter_sections():
            if isinstance(section, RelrRelocationSection):
                for relocation in section.iter_relocations():
                    (pointers[relocation["r_offset"]],) = struct.unpack("<Q", self.read(relocation["r_offset"], 8))
            elif isinstance(section, RelocationSection) and section.is_RELA():
                symbols = self._symbol_table(self.elf.get_section(section["sh_link"]))
                data = section.data()
                for at, info, addend in struct.iter_unpack("<QQq", data[: len(data) // 24 * 24]):
                    index = info >> 32
                    if index == 0 or index >= len(symbols):
                        pointers[at] = addend
                    elif symbols[index].is_here:
                        pointers[at] = symbols[index].value + addend
                    else:
                        names[at] = symbols[index].name
        return pointers, names

    def _symbol_table(self, section: Any) -> list[_Symbol]:
        if not isinstance(section, SymbolTableSection):
            return []
        data, texts = section.data(), section.stringtable.data()
        return [
            _Symbol(
                texts[name : texts.find(b"\0", name)].decode("utf-8", "replace"),
                value,
                place != 0,
                info & 15 == _FUNCTION,
            )
            for name, info, place, value in struct.iter_unpack("<IBxHQ8x", data[: len(data) // 24 * 24])
        ]

    @property
    def pointers(self) -> dict[int, int]:
        """Of each word that the linker fills in, the address inside this file."""
        return self._relocations[0]

    @property
    def imports(self) -> dict[int, str]:
        """The same of other files' symbols: their names."""
        return self._relocations[1]

    def code(self) -> Iterator[tuple[int, bytes]]:
        """Sections of instructions, but for the linker's own jumps to other files."""
        for section in self.elf.iter_sections():
            if section["sh_flags"] & _EXECUTABLE and section["sh_size"] and not section.name.startswith(".plt"):
                yield section["sh_addr"], section.data()

    def initializers(self) -> list[int]:
        """Functions that loading the file runs, in order."""
        found = []
        dynamic = self.elf.get_section_by_name(".dynamic")
        if dynamic is not None:
            found += [tag.entry.d_val for tag in dynamic.iter_tags("DT_INIT")]
        section = self.elf.get_section_by_name(".init_array")
        if section is not None:
            for at in range(section["sh_addr"], section["sh_addr"] + section["sh_size"], 8):
                target = self.pointers.get(at)
                if target:
                    found.append(target)
        return found

    def dynamic_symbols(self) -> Iterator[tuple[str, bool]]:
        """Names that the dynamic linker looks up, and whether this file has each."""
        for symbol in self._symbol_table(self.elf.get_section_by_name(".dynsym")):
            if symbol.name:
                yield symbol.name, symbol.is_here

    @cached_property
    def symbols(self) -> dict[int, str]:
        """Names of functions by address, where the file has them."""
        found: dict[int, str] = {}
        for name in (".dynsym", ".symtab"):
            for symbol in self._symbol_table(self.elf.get_section_by_name(name)):
                if symbol.is_function and symbol.is_here:
                    found.setdefault(symbol.value, symbol.name)
        return found

    @cached_property
    def starts(self) -> list[int]:
        """Where functions begin: from symbols and from the tables for unwinding, which stripping leaves."""
        return sorted({*self.symbols, *self._unwound(), *self.initializers()})

    def find_start(self, address: int) -> int | None:
        at = bisect.bisect_right(self.starts, address)
        return self.starts[at - 1] if at else None

    def find_end(self, address: int) -> int:
        """Where the next function begins."""
        at = bisect.bisect_right(self.starts, address)
        return self.starts[at] if at < len(self.starts) else address + (1 << 16)

    def _unwound(self) -> Iterator[int]:
        section = self.elf.get_section_by_name(".eh_frame_hdr")
        if section is None:
            return
        data, base = section.data(), section["sh_addr"]
        if len(data) < 12 or data[0] != 1 or data[3] != _SDATA4_FROM_HEADER:
            return
        (count,) = struct.unpack_from("<I", data, 8)
        for i in range(min(count, (len(data) - 12) // 8)):
            yield base + struct.unpack_from("<i", data, 12 + 8 * i)[0]
