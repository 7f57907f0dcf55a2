"""A PE file as Windows' loader would map it: sections, the words that the loader fills in, where functions begin. Addresses are those
of the file at the base that it asks for."""

from __future__ import annotations

import functools
import struct
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from kernpack_sdk import pe
from kernpack_sdk.audit import sections
from kernpack_sdk.audit.sections import Section

_X86_64 = 0x8664  # IMAGE_FILE_MACHINE_AMD64
_EXECUTABLE, _WRITABLE = 0x20000000, 0x80000000  # IMAGE_SCN_MEM_EXECUTE, _WRITE
_UNWINDING, _RELOCATIONS, _DEBUG, _TLS = 3, 5, 6, 9  # indices of directories
_WORD = 10  # IMAGE_REL_BASED_DIR64
_CHAINED = 4  # UNW_FLAG_CHAININFO: a part of the function before
_PDB70 = 0x53445352
_MOST = 1 << 16  # thread-local callbacks


class PeFile:
    """ValueError where the file isn't one."""

    has_stack_header = True  # stacks aren't executable, whatever a file says

    def __init__(self, path: Path) -> None:
        self._file: Any = pe.open_file(path)
        pe.parse(path, self._file)
        self._base: int = self._file.OPTIONAL_HEADER.ImageBase
        self.segments = [
            (self._base + each.VirtualAddress, each.get_data()[: each.Misc_VirtualSize]) for each in self._file.sections
        ]

    def close(self) -> None:
        self._file.close()

    @property
    def is_x86_64(self) -> bool:
        return bool(self._file.FILE_HEADER.Machine == _X86_64)

    def faults(self) -> Iterator[str]:
        """Problems of any PE file; sentences without a subject."""
        for each in self._file.sections:
            if each.Characteristics & _EXECUTABLE and each.Characteristics & _WRITABLE:
                yield f"has a section that is both writable and executable ({_name(each)}); link it without that section's flags"

    def sections(self) -> Iterator[Section]:
        for each, (address, data) in zip(self._file.sections, self.segments, strict=True):
            yield Section(_name(each), address, functools.partial(bytes, data))

    def largest_symbols(self, count: int) -> Iterator[tuple[str, int]]:
        """None: a DLL's tables have no sizes."""
        yield from ()

    @cached_property
    def pointers(self) -> dict[int, int]:
        """Of each word that the loader relocates, the address inside this file."""
        data, found, at = self._directory(_RELOCATIONS), {}, 0
        while at + 8 <= len(data):
            page, size = struct.unpack_from("<II", data, at)
            if size < 8:
                break
            block = data[at + 8 : at + size]
            for (entry,) in struct.iter_unpack("<H", block[: len(block) // 2 * 2]):
                if entry >> 12 == _WORD:
                    address = self._base + page + (entry & 0xFFF)
                    word = sections.read(self.segments, address, 8)
                    if len(word) == 8:
                        (found[address],) = struct.unpack("<Q", word)
            at += size
        return found

    @cached_property
    def imports(self) -> dict[int, str]:
        """Of each word that the loader fills with the address of another file's function, the name."""
        return {address: name for _, name, address in pe.imports(self._file)}

    def code(self) -> Iterator[tuple[int, bytes]]:
        """Sections of instructions."""
        for each, (address, data) in zip(self._file.sections, self.segments, strict=True):
            if each.Characteristics & _EXECUTABLE and data:
                yield address, data

    def initializers(self) -> list[int]:
        """Functions that loading the file runs, in order: thread-local callbacks, then the entry point. The C library calls static
        constructors from there, by a list that no table names."""
        found: list[int] = []
        table = self._directory(_TLS)
        if len(table) >= 32:
            (callbacks,) = struct.unpack_from("<Q", table, 24)
            for at in range(callbacks, callbacks + 8 * _MOST, 8):
                word = sections.read(self.segments, at, 8)
                if len(word) < 8 or not any(word):
                    break
                found += struct.unpack("<Q", word)
        entry = self._file.OPTIONAL_HEADER.AddressOfEntryPoint
        return [*found, self._base + entry] if entry else found

    def dynamic_symbols(self) -> Iterator[tuple[str, bool]]:
        """Names that the loader looks up, and whether this file has each."""
        for name, _ in pe.exports(self._file):
            yield name, True
        for _, name, _ in pe.imports(self._file):
            yield name, False

    @cached_property
    def symbols(self) -> dict[int, str]:
        """Names of exported functions by address."""
        return {self._base + address: name for name, address in pe.exports(self._file)}

    def unwound(self) -> Iterator[int]:
        """Where functions begin, by the table for unwinding."""
        data = self._directory(_UNWINDING) if self.is_x86_64 else b""
        for begin, _, unwind in struct.iter_unpack("<III", data[: len(data) // 12 * 12]):
            head = sections.read(self.segments, self._base + unwind, 1)
            if begin and not (head and head[0] >> 3 & _CHAINED):
                yield self._base + begin

    def debug_path(self) -> str | None:
        """The path of the debug information, on the machine that built the file."""
        data = self._directory(_DEBUG)
        for at in range(0, len(data) - 27, 28):
            size, address = struct.unpack_from("<II", data, at + 16)
            record = sections.read(self.segments, self._base + address, min(size, 1024))
            if len(record) > 24 and struct.unpack_from("<I", record)[0] == _PDB70:
                return record[24:].partition(b"\0")[0].decode("utf-8", "replace")
        return None

    def _directory(self, index: int) -> bytes:
        entries = self._file.OPTIONAL_HEADER.DATA_DIRECTORY
        if index >= len(entries) or not entries[index].VirtualAddress:
            return b""
        return sections.read(self.segments, self._base + entries[index].VirtualAddress, entries[index].Size)


def _name(section: Any) -> str:
    return bytes(section.Name).rstrip(b"\0").decode("utf-8", "replace")
