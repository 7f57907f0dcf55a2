"""A shared object as its system's loader would map it: bytes by address, the loader's words, where functions begin. ELF and PE."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from kernpack_sdk.audit import sections
from kernpack_sdk.audit.elf_file import ElfFile
from kernpack_sdk.audit.sections import Section


class Image:
    """ValueError where the file isn't one."""

    def __init__(self, path: Path) -> None:
        from kernpack_sdk import shared_object
        from kernpack_sdk.audit.pe_file import PeFile

        self.path = path
        self._file = PeFile(path) if shared_object.is_pe(path) else ElfFile(path)
        self.segments = self._file.segments

    def __enter__(self) -> Image:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def has_stack_header(self) -> bool:
        return self._file.has_stack_header

    @property
    def is_x86_64(self) -> bool:
        return self._file.is_x86_64

    def faults(self) -> Iterator[str]:
        """Problems of any file of its format; sentences without a subject."""
        return self._file.faults()

    def sections(self) -> Iterator[Section]:
        return self._file.sections()

    def read(self, address: int, size: int) -> bytes:
        """Fewer bytes at a segment's end; none where nothing is mapped."""
        return sections.read(self.segments, address, size)

    def text(self, address: int) -> str | None:
        for begin, data in self.segments:
            if begin <= address < begin + len(data):
                end = data.find(b"\0", address - begin)
                return data[address - begin : end].decode("utf-8", "replace") if end >= 0 else None
        return None

    def pointer(self, address: int) -> int | None:
        """The address that the linker writes there; None if it writes nothing, or the address of another file's symbol."""
        return self.pointers.get(address)

    @property
    def pointers(self) -> dict[int, int]:
        """Of each word that the linker fills in, the address inside this file."""
        return self._file.pointers

    @property
    def imports(self) -> dict[int, str]:
        """The same of other files' symbols: their names."""
        return self._file.imports

    def code(self) -> Iterator[tuple[int, bytes]]:
        """Sections of instructions, but for the linker's own jumps to other files."""
        return self._file.code()

    def initializers(self) -> list[int]:
        """Functions that loading the file runs, in order."""
        return self._file.initializers()

    def dynamic_symbols(self) -> Iterator[tuple[str, bool]]:
        """Names that the dynamic linker looks up, and whether this file has each."""
        return self._file.dynamic_symbols()

    def largest_symbols(self, count: int) -> Iterator[tuple[str, int]]:
        """Names and sizes."""
        return self._file.largest_symbols(count)

    @property
    def symbols(self) -> dict[int, str]:
        """Names of functions by address, where the file has them."""
        return self._file.symbols

    @cached_property
    def starts(self) -> list[int]:
        """Where functions begin: from symbols and from the tables for unwinding, which stripping leaves."""
        return sorted({*self.symbols, *self._file.unwound(), *self.initializers()})

    def find_start(self, address: int) -> int | None:
        at = bisect.bisect_right(self.starts, address)
        return self.starts[at - 1] if at else None

    def find_end(self, address: int) -> int:
        """Where the next function begins."""
        at = bisect.bisect_right(self.starts, address)
        return self.starts[at] if at < len(self.starts) else address + (1 << 16)
