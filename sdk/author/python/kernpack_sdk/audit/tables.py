"""A kernel module's own tables, read from the file: nothing of it is loaded."""

from __future__ import annotations

import dataclasses
import struct

from kernpack_sdk.audit import unrelocated
from kernpack_sdk.audit.image import Image

_SMALLEST = 112  # bytes of a KpModule
_LINKS = {1: "KP_GRAD", 2: "KP_JVP"}  # KpDefKind


@dataclasses.dataclass(frozen=True)
class Variant:
    """One implementation of an exported function."""

    name: str
    target: str | None  # None: the baseline
    address: int
    contract: str | None = None
    doc: str | None = None
    cxx_types: str | None = None


@dataclasses.dataclass(frozen=True)
class Link:
    """KP_GRAD(forward, derived) or KP_JVP(forward, derived)."""

    macro: str
    forward: str
    derived: str


@dataclasses.dataclass(frozen=True)
class Module:
    name: str
    version: str
    sdk_version: str
    variants: tuple[Variant, ...]
    links: tuple[Link, ...]


def broken_links(parts: list[Module]) -> list[str]:
    """Reasons for which hosts refuse the gradients and tangents of a module that consists of these files."""
    known = {variant.name for part in parts for variant in part.variants if variant.contract is not None}
    return [
        f"{link.macro}({link.forward}, {link.derived}): the module exports no function {name} with a signature; export it, or "
        "correct the name"
        for part in parts
        for link in part.links
        for name in (link.forward, link.derived)
        if name not in known
    ]


def modules(image: Image) -> list[Module]:
    """Every KpModule of the file; a later ABI's too, as far as they begin alike."""
    return [found for at in image.pointers if (found := _module(image, at - 16)) is not None]


def places(image: Image) -> list[int]:
    """The address of each."""
    return [at - 16 for at in image.pointers if _module(image, at - 16) is not None]


def _module(image: Image, at: int) -> Module | None:
    """The module at the address, if it begins like a KpModule and the linker fills in its pointers."""
    head = image.read(at, 16)
    if len(head) < 16:
        return None
    size, version, oldest, reserved = struct.unpack("<IIII", head)
    if size % 8 or not _SMALLEST <= size <= 4096 or not 0 < version >> 16 < 256 or reserved:
        return None
    if oldest and oldest >> 16 != version >> 16:
        return None
    pointers = [image.pointer(at + offset) for offset in (16, 24, 32)]
    table = unrelocated.bounds(image.pointers, at)
    if None in pointers or table is None:
        return None
    texts = [image.text(pointer) for pointer in pointers if pointer is not None]
    if any(text is None for text in texts):
        return None
    found = [_definition(image, each) for each in range(*table, unrelocated.DEFINITION)]
    name, own_version, sdk = (text or "" for text in texts)
    variants = tuple(each for each in found if isinstance(each, Variant))
    return Module(name, own_version, sdk, variants, tuple(each for each in found if isinstance(each, Link)))


def _definition(image: Image, at: int) -> Variant | Link | None:
    pointer, call = image.pointer(at), image.pointer(at + 8)
    if pointer is None:
        return None
    name = image.text(pointer) or ""
    info = image.pointer(at + 16)
    if info is None:
        return None if call is None else Variant(name, None, call)
    size, kind = struct.unpack("<II", image.read(info, 8).ljust(8, b"\0"))
    if size < 24:
        return None
    text = _text(image, info + 8)
    if kind in _LINKS:
        return Link(_LINKS[kind], name, text or "")
    if kind != 0 or call is None:  # KP_DEF_FUNCTION
        return None
    described = [_text(image, info + offset) if size >= offset + 8 else None for offset in (40, 48)]
    return Variant(name, text, call, _text(image, info + 16), *described)


def _text(image: Image, at: int) -> str | None:
    pointer = image.pointer(at)
    return None if pointer is None else image.text(pointer)
