"""Reads the facts about an ELF file, as Linux loads it."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import SymbolTableSection
from elftools.elf.segments import NoteSegment

from kernpack_sdk.shared_object import SharedObject

_DF_BIND_NOW = 0x8
_DF_1_NOW = 0x1


class Stream(io.BufferedReader):
    """A file for pyelftools, which reads as many bytes as a header says: a damaged one says 2**60. Reads and positions end with the
    file."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path))
        self._size = os.fstat(self.fileno()).st_size

    def read(self, size: int | None = -1) -> bytes:
        return super().read(size if size is None else min(size, self._size))

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return super().seek(max(-self._size, min(offset, self._size)), whence)


def read(path: Path) -> SharedObject:
    """Reads a shared object; ValueError when the file is none."""
    with Stream(path) as stream:
        try:
            elf = ELFFile(stream)
        except ELFError as error:
            raise ValueError(f"{path}: not an ELF shared object ({error})") from None
        segments = {segment["p_type"]: segment for segment in elf.iter_segments()}
        dynamic = next((s for s in elf.iter_sections() if isinstance(s, DynamicSection)), None)
        symbols = elf.get_section_by_name(".dynsym")
        if dynamic is None or not isinstance(symbols, SymbolTableSection):
            raise ValueError(f"{path}: an ELF file, but not a shared object (it has no dynamic section)")
        tags: list[Any] = list(dynamic.iter_tags())
        stack = segments.get("PT_GNU_STACK")
        return SharedObject(
            exports=tuple(sorted(_exports(symbols))),
            needed=tuple(t.needed for t in tags if t.entry.d_tag == "DT_NEEDED"),
            runpath=tuple(p for t in tags for p in _run_path(t) if p),
            soname=next((t.soname for t in tags if t.entry.d_tag == "DT_SONAME"), None),
            relro="PT_GNU_RELRO" in segments,
            bind_now=any(_binds_now(t.entry) for t in tags),
            executable_stack=stack is None or bool(stack["p_flags"] & 1),
            versions=tuple(sorted(_versions(elf))),
            machine=elf["e_machine"],
            needs_note=_needs_note(elf),
        )


def _needs_note(elf: ELFFile) -> str:
    for segment in elf.iter_segments():
        for note in segment.iter_notes() if isinstance(segment, NoteSegment) else ():
            if note["n_name"] == "Kernpack":
                return bytes(note["n_descdata"]).rstrip(b"\0").decode("utf-8", "replace")
    return ""


def _exports(symbols: SymbolTableSection):
    for symbol in symbols.iter_symbols():
        defined = symbol["st_shndx"] != "SHN_UNDEF"
        visible = symbol["st_info"]["bind"] in ("STB_GLOBAL", "STB_WEAK", "STB_LOOS")  # LOOS: STB_GNU_UNIQUE
        if defined and visible and symbol.name:
            yield symbol.name


def _run_path(tag) -> list[str]:
    if tag.entry.d_tag == "DT_RUNPATH":
        return tag.runpath.split(":")
    if tag.entry.d_tag == "DT_RPATH":
        return tag.rpath.split(":")
    return []


def _binds_now(entry) -> bool:
    return (
        entry.d_tag == "DT_BIND_NOW"
        or (entry.d_tag == "DT_FLAGS" and bool(entry.d_val & _DF_BIND_NOW))
        or (entry.d_tag == "DT_FLAGS_1" and bool(entry.d_val & _DF_1_NOW))
    )


def _versions(elf: ELFFile) -> set[str]:
    section = next((s for s in elf.iter_sections() if isinstance(s, GNUVerNeedSection)), None)
    if section is None:
        return set()
    return {version.name for _, versions in section.iter_versions() for version in versions}
