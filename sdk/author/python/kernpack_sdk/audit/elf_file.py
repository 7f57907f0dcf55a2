"""An ELF file as Linux's dynamic linker would map it: sections, relocations, symbols."""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection, RelrRelocationSection
from elftools.elf.sections import SymbolTableSection

from kernpack_sdk.audit import sections, unrelocated
from kernpack_sdk.audit.sections import Section
from kernpack_sdk.elf import Stream

_EXECUTABLE = 0x4  # SHF_EXECINSTR
_SDATA4_FROM_HEADER = 0x3B  # DW_EH_PE_datarel | DW_EH_PE_sdata4: how linkers write the table of .eh_frame_hdr
_FUNCTION = 2  # STT_FUNC
_TEXT_RELOCATIONS = 0x4  # DF_TEXTREL


class _Symbol(NamedTuple):
    name: str
    value: int
    is_here: bool  # not another file's
    is_function: bool


class ElfFile:
    """ValueError where the file isn't one."""

    def __init__(self, path: Path) -> None:
        self._stream = Stream(path)
        try:
            self.elf: Any = ELFFile(self._stream)
            if self.elf.elfclass != 64 or not self.elf.little_endian:
                raise ELFError("not of a 64-bit little-endian machine")
            self.segments = [(s["p_vaddr"], s.data()) for s in self.elf.iter_segments("PT_LOAD")]
        except ELFError as error:
            self._stream.close()
            raise ValueError(f"{path}: not an ELF shared object ({error})") from None

    def close(self) -> None:
        self._stream.close()

    @property
    def is_x86_64(self) -> bool:
        return bool(self.elf["e_machine"] == "EM_X86_64")

    @cached_property
    def has_stack_header(self) -> bool:
        return any(self.elf.iter_segments("PT_GNU_STACK"))

    def faults(self) -> Iterator[str]:
        """Problems of any ELF file; sentences without a subject."""
        stack = next(iter(self.elf.iter_segments("PT_GNU_STACK")), None)
        if stack is not None and stack["p_flags"] & 1:
            yield "asks for an executable stack; link with -Wl,-z,noexecstack, or fix the assembly file that asks for it"
        dynamic = self.elf.get_section_by_name(".dynamic")
        tags = [] if dynamic is None else [tag.entry for tag in dynamic.iter_tags()]
        if any(
            tag.d_tag == "DT_TEXTREL" or (tag.d_tag == "DT_FLAGS" and tag.d_val & _TEXT_RELOCATIONS) for tag in tags
        ):
            yield "has text relocations, so the loader writes to its code; compile all of it with -fPIC"

    def sections(self) -> Iterator[Section]:
        for section in self.elf.iter_sections():
            yield Section(section.name, section["sh_addr"], section.data)

    def largest_symbols(self, count: int) -> Iterator[tuple[str, int]]:
        """From the full table of symbols where the file has it, from that of the dynamic linker otherwise. Of several names for one
        place, and of several places with one name (static data of several files), the largest counts alone."""
        table = self.elf.get_section_by_name(".symtab") or self.elf.get_section_by_name(".dynsym")
        if not isinstance(table, SymbolTableSection):
            return
        data, texts = table.data(), table.stringtable.data()
        rows = [
            (size, address, name)
            for name, place, address, size in struct.iter_unpack("<I2xHQQ", data[: len(data) // 24 * 24])
            if place and size
        ]
        names: set[str] = set()
        addresses: set[int] = set()
        for size, address, at in sorted(rows, reverse=True):
            name = texts[at : texts.find(b"\0", at)].decode("utf-8", "replace")
            if len(names) == count:
                return
            if name in names or address in addresses:
                continue
            names.add(name)
            addresses.add(address)
            yield name, size

    @cached_property
    def _relocations(self) -> tuple[dict[int, int], dict[int, str]]:
        """By hand: a large library has hundreds of thousands, which pyelftools takes minutes for."""
        pointers, names = {}, {}
        for section in self.elf.iter_sections():
            if isinstance(section, RelrRelocationSection):
                for relocation in section.iter_relocations():
                    (pointers[relocation["r_offset"]],) = struct.unpack(
                        "<Q", sections.read(self.segments, relocation["r_offset"], 8)
                    )
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
        pointers |= unrelocated.pointers(functools.partial(sections.read, self.segments), pointers)
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
        """Of each word that the linker fills in, the address inside this file; of each word of a function table that it leaves to the
        host, too."""
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
            places = range(section["sh_addr"], section["sh_addr"] + section["sh_size"], 8)
            # Not each place of the range: a damaged file says that there are 2**40.
            found += [self.pointers[at] for at in sorted(self.pointers) if at in places and self.pointers[at]]
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

    def unwound(self) -> Iterator[int]:
        """Where functions begin, by the table for unwinding."""
        section = self.elf.get_section_by_name(".eh_frame_hdr")
        if section is None:
            return
        data, base = section.data(), section["sh_addr"]
        if len(data) < 12 or data[0] != 1 or data[3] != _SDATA4_FROM_HEADER:
            return
        (count,) = struct.unpack_from("<I", data, 8)
        for i in range(min(count, (len(data) - 12) // 8)):
            yield base + struct.unpack_from("<i", data, 12 + 8 * i)[0]
