"""A kernel module's own tables, read from the file: nothing of it is loaded."""

from __future__ import annotations

import dataclasses
import struct

from kernpack_sdk.audit.image import Image

_SMALLEST = 112  # bytes of a KpModule
_DEFINITION = 24  # bytes of a KpFunctionDef
_MOST = 100_000  # functions of a module


@dataclasses.dataclass(frozen=True)
class Variant:
    """One implementation of an exported function."""

    name: str
    target: str | None  # None: the baseline
    address: int


@dataclasses.dataclass(frozen=True)
class Module:
    name: str
    version: str
    sdk_version: str
    variants: tuple[Variant, ...]


def modules(image: Image) -> list[Module]:
    """Every KpModule of the file; a later ABI's too, as far as they begin alike."""
    return [found for at in image.pointers if (found := _module(image, at - 16)) is not None]


def _module(image: Image, at: int) -> Module | None:
    """What stands at the address, if its first words are those of a KpModule and the linker fills in its pointers."""
    head = image.read(at, 16)
    if len(head) < 16:
        return None
    size, version, oldest, reserved = struct.unpack("<IIII", head)
    if size % 8 or not _SMALLEST <= size <= 4096 or not 0 < version >> 16 < 256 or reserved:
        return None
    if oldest and oldest >> 16 != version >> 16:
        return None
    pointers = [image.pointer(at + offset) for offset in (16, 24, 32)]
    begin, end = image.pointer(at + 48), image.pointer(at + 56)
    if None in pointers or begin is None or end is None or not begin <= end <= begin + _DEFINITION * _MOST:
        return None
    texts = [image.text(pointer) for pointer in pointers if pointer is not None]
    if any(text is None for text in texts):
        return None
    variants = [found for each in range(begin, end, _DEFINITION) if (found := _variant(image, each))]
    name, own_version, sdk = (text or "" for text in texts)
    return Module(name, own_version, sdk, tuple(variants))


def _variant(image: Image, at: int) -> Variant | None:
    name, call = image.pointer(at), image.pointer(at + 8)
    if name is None or call is None:
        return None
    info = image.pointer(at + 16)
    target = None
    if info is not None:
        size, kind = struct.unpack("<II", image.read(info, 8).ljust(8, b"\0"))
        if size < 16 or kind != 0:  # KP_DEF_FUNCTION
            return None
        pointer = image.pointer(info + 8)
        target = None if pointer is None else image.text(pointer)
    return Variant(image.text(name) or "", target, call)
