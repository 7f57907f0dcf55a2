"""The facts about a shared object that decide where it loads and what it does to the process that loads it: Linux's .so, Windows' .dll."""

from __future__ import annotations

import dataclasses
import os
import sys
import sysconfig
from pathlib import Path

SUFFIX = ".dll" if os.name == "nt" else ".so"  # of the modules that this machine builds
SUFFIXES = (".so", ".dll", ".pyd")  # of any system; .pyd is Python's own extension on Windows
# As targets and the manual call them.
MACHINES = {
    "EM_X86_64": "x86-64",
    "EM_AARCH64": "aarch64",
    "IMAGE_FILE_MACHINE_AMD64": "x86-64",
    "IMAGE_FILE_MACHINE_ARM64": "aarch64",
}

_WINDOWS = {"win-amd64": "x86-64", "win-arm64": "aarch64"}


@dataclasses.dataclass(frozen=True)
class SharedObject:
    """The facts that `read` found. Names are as the file spells them."""

    exports: tuple[str, ...]  # sorted
    needed: tuple[str, ...]  # DT_NEEDED, or the DLLs of the import tables, in order
    machine: str  # the format's name of it: a key of MACHINES
    runpath: tuple[str, ...] = ()  # DT_RPATH and DT_RUNPATH entries
    soname: str | None = None
    relro: bool = False  # has a PT_GNU_RELRO segment
    bind_now: bool = False
    executable_stack: bool = False
    versions: tuple[str, ...] = ()  # every symbol version asked for, "GLIBC_2.27", sorted
    needs_note: str = ""  # kernpack/library_table.h: which wheels have which libraries
    is_pe: bool = False  # for Windows; else ELF, for Linux
    unprotected: tuple[str, ...] = ()  # of a PE file, the linker's options for protections that it goes without

    @property
    def full_relro(self) -> bool:
        return self.relro and self.bind_now


def read(path: Path) -> SharedObject:
    """ValueError when the file is none."""
    from kernpack_sdk import elf, pe

    return pe.read(path) if is_pe(path) else elf.read(path)


def is_pe(path: Path) -> bool:
    """By its first two bytes: a file for Windows, or one that claims to be."""
    with path.open("rb") as stream:
        return stream.read(2) == b"MZ"


def is_for_this_python(so: SharedObject) -> bool:
    """False of a file for another system or another machine than the Python that runs this."""
    if os.name == "nt":
        return so.is_pe and MACHINES.get(so.machine) == _WINDOWS.get(sysconfig.get_platform())
    return so.machine == read(Path(sys.executable).resolve()).machine


def below(folder: Path) -> list[Path]:
    """The files of a folder and all below it that are called like shared objects."""
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)
