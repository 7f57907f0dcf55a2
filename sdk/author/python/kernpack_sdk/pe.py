"""Reads the facts about a PE file, as Windows loads it."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from kernpack_sdk.shared_object import SharedObject

_PE32_PLUS = 0x20B  # the magic of 64-bit files
_TAGS = {0x8664: "win_amd64", 0xAA64: "win_arm64"}  # of wheels, by IMAGE_FILE_HEADER.Machine
# Each bit of DllCharacteristics that a protection needs, and the linker's option that sets it.
_PROTECTIONS = {0x20: "--high-entropy-va", 0x40: "--dynamicbase", 0x100: "--nxcompat"}
_DIRECTORIES = ("EXPORT", "IMPORT", "DELAY_IMPORT")


def open_file(path: Path) -> Any:
    """A pefile.PE of a 64-bit DLL, without its directories; ValueError for anything else."""
    try:
        import pefile  # builds for Linux do without
    except ImportError:
        raise ValueError(
            f"{path}: a file for Windows, which needs the package pefile to be read: pip install pefile"
        ) from None
    try:
        file = pefile.PE(data=path.read_bytes(), fast_load=True)
    except pefile.PEFormatError as error:
        raise ValueError(f"{path}: not a PE shared object ({error})") from None
    if file.OPTIONAL_HEADER.Magic != _PE32_PLUS:
        raise ValueError(f"{path}: a PE file, but not of a 64-bit machine")
    if not file.is_dll():
        raise ValueError(f"{path}: a PE file, but not a DLL")
    if any(each.PointerToRawData + each.SizeOfRawData > len(file.__data__) for each in file.sections):
        raise ValueError(f"{path}: is truncated: a section would end behind the file's end; build it again")
    return file


def parse(path: Path, file: Any) -> None:
    """Reads what the file exports and imports. ValueError where a table is damaged."""
    import pefile

    entries = {name: pefile.DIRECTORY_ENTRY[f"IMAGE_DIRECTORY_ENTRY_{name}"] for name in _DIRECTORIES}
    try:
        file.parse_data_directories(list(entries.values()))
    except (pefile.PEFormatError, struct.error, LookupError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"{path}: is damaged ({type(error).__name__}: {error}); build it again") from None
    there = file.OPTIONAL_HEADER.DATA_DIRECTORY
    for name, at in entries.items():  # pefile leaves out what it can't read
        if at < len(there) and there[at].VirtualAddress and not hasattr(file, f"DIRECTORY_ENTRY_{name}"):
            raise ValueError(f"{path}: is damaged: its directory {name} can't be read; build it again")
    exported = getattr(file, "DIRECTORY_ENTRY_EXPORT", None)
    if exported is not None and len(exported.symbols) < exported.struct.NumberOfNames:
        raise ValueError(
            f"{path}: is damaged: {exported.struct.NumberOfNames} exports, of which {len(exported.symbols)} can be read; "
            "build it again"
        )


def read(path: Path) -> SharedObject:
    """Reads a DLL; ValueError when the file is none, or is damaged."""
    file = open_file(path)
    import pefile

    parse(path, file)
    machine = file.FILE_HEADER.Machine
    flags = file.OPTIONAL_HEADER.DllCharacteristics
    return SharedObject(
        exports=tuple(sorted(name for name, _ in exports(file))),
        needed=tuple(dict.fromkeys(library for library, _, _ in imports(file))),
        machine=pefile.MACHINE_TYPE.get(machine, f"{machine:#x}"),
        is_pe=True,
        unprotected=tuple(option for bit, option in _PROTECTIONS.items() if not flags & bit),
    )


def exports(file: Any) -> list[tuple[str, int]]:
    """Names and addresses, of a parsed file."""
    directory = getattr(file, "DIRECTORY_ENTRY_EXPORT", None)
    return [(_text(each.name), each.address or 0) for each in directory.symbols if each.name] if directory else []


def imports(file: Any) -> list[tuple[str, str, int]]:
    """The DLL, the name and the address of the loader's word of each function that a parsed file imports."""
    return [
        (_text(library.dll), _text(each.name) if each.name else f"#{each.ordinal}", each.address or 0)
        for name in ("DIRECTORY_ENTRY_IMPORT", "DIRECTORY_ENTRY_DELAY_IMPORT")
        for library in getattr(file, name, [])
        for each in library.imports
    ]


def _text(name: bytes | None) -> str:
    return (name or b"").decode("utf-8", "replace")


def platform_tag(head: bytes) -> str | None:
    """The platform of wheels for a file that begins so; None of a file that isn't for Windows, or is for a machine that wheels
    aren't made for."""
    if head[:2] != b"MZ" or len(head) < 64:
        return None
    (at,) = struct.unpack_from("<I", head, 60)
    if head[at : at + 4] != b"PE\0\0" or len(head) < at + 6:
        return None
    (machine,) = struct.unpack_from("<H", head, at + 4)
    return _TAGS.get(machine)
