"""The header of an ELF file and its tables of segments and sections, as numbers that can be changed and written again."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from kernpack_sdk.audit import fatbin

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")
SEGMENT_SIZE, SECTION_SIZE = _SEGMENT.size, _SECTION.size
MOST_SECTIONS = 0xFEFF  # more are counted in another way
_MOST_SEGMENTS = 0xFFFE

LOAD, PHDR = 1, 6  # PT_LOAD, PT_PHDR
EXECUTABLE = 1  # PF_X
NULL, NOBITS = 0, 8  # SHT_NULL, SHT_NOBITS
_ALLOCATED = 0x2  # SHF_ALLOC
_SHARED_OBJECT = 3  # ET_DYN
_X86_64 = 62
_SMALL_PAGE = 4096


class Header(NamedTuple):
    ident: bytes
    type: int
    machine: int
    version: int
    entry: int
    segments_at: int
    sections_at: int
    flags: int
    size: int
    segment_size: int
    segment_count: int
    section_size: int
    section_count: int
    names: int

    def packed(self) -> bytes:
        return HEADER.pack(*self)


class Segment(NamedTuple):
    type: int
    flags: int
    offset: int
    address: int
    physical: int
    file_size: int
    memory_size: int
    alignment: int

    @property
    def file_end(self) -> int:
        return self.offset + self.file_size

    @property
    def is_executable(self) -> bool:
        return bool(self.flags & EXECUTABLE)

    def packed(self) -> bytes:
        return _SEGMENT.pack(*self)


class Section(NamedTuple):
    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int

    @property
    def is_allocated(self) -> bool:
        return bool(self.flags & _ALLOCATED)

    @property
    def end(self) -> int:
        """Behind its bytes in the file."""
        return self.offset + (0 if self.type in (NULL, NOBITS) else self.size)

    def packed(self) -> bytes:
        return _SECTION.pack(*self)


class Elf:
    """ValueError where the file isn't a shared object all of whose parts lie inside it.

    embedded: places in the file of fat binaries among constants, DEVICE_CODE of Kernpack's modules.
    """

    def __init__(self, data: bytes | mmap.mmap, embedded: Iterable[int] = ()) -> None:
        self.data = data
        self.embedded = sorted(embedded)
        if len(data) < HEADER.size or data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("expected an ELF file of a 64-bit little-endian machine")
        self.header = Header(*HEADER.unpack_from(data))
        head = self.header
        if head.type != _SHARED_OBJECT:
            raise ValueError(f"expected a shared object (ELF type 3), got ELF type {head.type}")
        if (head.size, head.segment_size, head.section_size) != (HEADER.size, SEGMENT_SIZE, SECTION_SIZE):
            raise ValueError("its ELF header gives sizes that the ELF format doesn't have")
        if not 0 < head.segment_count <= _MOST_SEGMENTS or not 0 < head.section_count <= MOST_SECTIONS:
            raise ValueError(
                f"it has {head.segment_count} segments and {head.section_count} sections, which can't be read"
            )
        self.segments = [Segment(*row) for row in self._table(_SEGMENT, head.segments_at, head.segment_count)]
        self.sections = [Section(*row) for row in self._table(_SECTION, head.sections_at, head.section_count)]
        self._check_places()
        self.names = self._names()

    def _table(self, row: struct.Struct, at: int, count: int) -> list[tuple[int, ...]]:
        if at + row.size * count > len(self.data):
            raise ValueError("a table of its segments or sections leads out of the file")
        return list(row.iter_unpack(self.data[at : at + row.size * count]))

    def _check_places(self) -> None:
        if any(each.file_end > len(self.data) for each in self.segments) or any(
            each.end > len(self.data) for each in self.sections
        ):
            raise ValueError("a segment or a section leads out of the file")
        at = 0
        for each in self.loads:
            if each.address < at or each.file_size > each.memory_size:
                raise ValueError("its segments overlap in memory, or aren't in order")
            at = each.address + each.memory_size
            if at >= 1 << 63:
                raise ValueError("a segment leads out of the address space")
        if not self.loads:
            raise ValueError("it has no segment that is loaded")
        if any((each.offset - each.address) % self.page for each in self.loads):
            raise ValueError("a segment's places in the file and in memory don't fit")

    def _names(self) -> list[str]:
        if self.header.names >= len(self.sections):
            raise ValueError("it has no table of the names of its sections")
        table = self.sections[self.header.names]
        texts = self.data[table.offset : table.end]
        return [texts[each.name : texts.find(b"\0", each.name)].decode("utf-8", "replace") for each in self.sections]

    @property
    def loads(self) -> list[Segment]:
        return [each for each in self.segments if each.type == LOAD]

    def segments_but(self, *types: int) -> list[Segment]:
        return [each for each in self.segments if each.type not in types]

    @cached_property
    def page(self) -> int:
        """By multiples of it, places in the file and addresses differ. Pages of x86-64 are small, others as large as the linker assumed;
        a section may have to lie at a multiple of more."""
        needed = [each.alignment for each in self.sections if each.is_allocated]
        if self.header.machine != _X86_64:
            needed += [each.alignment for each in self.loads]
        largest = max([_SMALL_PAGE, *needed])
        if largest & (largest - 1):
            raise ValueError(f"it has an alignment of {largest} bytes, which isn't a power of two")
        return largest

    @property
    def fat_sections(self) -> list[int]:
        """The numbers of the sections with CUDA's fat binaries."""
        return [
            i
            for i, (name, section) in enumerate(zip(self.names, self.sections, strict=True))
            if name.startswith(fatbin.SECTIONS) and section.end > section.offset
        ]

    def containers(self) -> Iterator[tuple[int, list[fatbin.Container]]]:
        """The numbers of sections with fat binaries, and these. ValueError."""
        for number in self.fat_sections:
            section = self.sections[number]
            try:
                yield number, list(fatbin.containers(self.data[section.offset : section.end]))
            except ValueError as error:
                raise ValueError(f"{self.names[number]}: {error}") from None
        for number, section in enumerate(self.sections):
            inside = [at for at in self.embedded if section.offset <= at < section.end] if section.is_allocated else []
            if inside:
                data = self.data[section.offset : section.end]
                found = [fatbin.container_at(data, at - section.offset) for at in inside]
                yield number, [each for each in found if each is not None]

    @property
    def debug_sections(self) -> list[int]:
        """Those with information for debuggers, which nothing loads."""
        return [
            i
            for i, name in enumerate(self.names)
            if name.startswith((".debug_", ".zdebug_"))
            and not self.sections[i].is_allocated
            and self.sections[i].type != NULL
        ]

    def find_load(self, section: Section) -> Segment:
        """The one segment that loads the section from the file."""
        found = [
            each
            for each in self.loads
            if each.offset <= section.offset
            and section.end <= each.file_end
            and section.offset - each.offset == section.address - each.address
        ]
        touched = [each for each in self.loads if each.offset < section.end and section.offset < each.file_end]
        if len(found) != 1 or touched != found or section.type in (NULL, NOBITS):
            raise ValueError(
                "its fat binaries don't lie in exactly one segment, as those of a wheel that was slimmed; slim the original"
            )
        return found[0]
