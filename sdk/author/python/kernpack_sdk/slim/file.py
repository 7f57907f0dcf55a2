"""One shared object without device code that nobody asked for."""

from __future__ import annotations

import bisect
import dataclasses
import mmap
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kernpack_sdk import check
from kernpack_sdk.audit import Image, fatbin
from kernpack_sdk.slim import cuts, proof, rewrite
from kernpack_sdk.slim.choice import Choice
from kernpack_sdk.slim.tables import Elf

_MAGIC = struct.pack("<I", fatbin.MAGIC)
_CONSTANTS = (".rodata", ".data.rel.ro")
_TELLING = (*(name.encode() for name in fatbin.SECTIONS), b".debug_", b".zdebug_", _MAGIC)
_SHARED_OBJECT = b"\x7fELF\x02\x01"


@dataclasses.dataclass(frozen=True)
class Saved:
    """Of one kind: "sm_80", "compute_80", "duplicates" (images) or "debug sections" (sections)."""

    kind: str
    count: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class Slimmed:
    saved: tuple[Saved, ...]  # nothing: the file stays as it is
    bytes: tuple[int, int]  # before and after
    whole: int  # fat binaries without any code for the GPUs that were asked for, which stay whole


def has_what_can_go(path: Path) -> bool:
    """False of a file that is copied as it is: for a 32-bit machine, or with no name of a section that is looked for."""
    if path.stat().st_size < len(_SHARED_OBJECT):
        return False
    with _mapped(path) as data:
        return data[: len(_SHARED_OBJECT)] == _SHARED_OBJECT and any(data.find(name) >= 0 for name in _TELLING)


def entries(path: Path) -> list[fatbin.Entry]:
    """The images of all fat binaries of a shared object. ValueError."""
    with _mapped(path) as data:
        return list(cuts.entries(_read(path, data)))


def fat_binaries(path: Path) -> Iterator[tuple[str, bytes, tuple[fatbin.Entry, ...]]]:
    """Of a shared object: the name and content of the section, and the images. ValueError."""
    with _mapped(path) as data:
        elf = _read(path, data)
        for number, found in elf.containers():
            section = elf.data[elf.sections[number].offset : elf.sections[number].end]
            yield from ((elf.names[number], section, each.entries) for each in found)


def slim(path: Path, choice: Choice, to: Path) -> Slimmed:
    """Writes `to` and proves it; writes nothing where nothing goes. ValueError."""
    with _mapped(path) as data:
        old = _read(path, data)
        found = cuts.find(old, choice)
        size, whole = path.stat().st_size, cuts.count_whole(old, choice)
        if not found.parts and not old.debug_sections:
            return Slimmed((), (size, size), whole)
        _refuse_pointers(path, old, found)
        try:
            with to.open("wb") as output:
                rewrite.write(old, found, output)
            with _mapped(to) as written:
                _prove(old, Elf(written), choice)
        except ValueError:
            to.unlink()
            raise
        return Slimmed(tuple(_saved(old, found)), (size, to.stat().st_size), whole)


def _prove(old: Elf, new: Elf, choice: Choice) -> None:
    try:
        proof.check(old, new, choice)
    except ValueError as error:
        raise ValueError(f"it can't be proved that its host code stays as it is: {error}") from None


@contextmanager
def _mapped(path: Path) -> Iterator[mmap.mmap]:
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data


def _read(path: Path, data: mmap.mmap) -> Elf:
    """With fat binaries that are constants, of Kernpack's modules: the host takes their sizes from their headers. What the code of
    other projects knows of such constants can't be told."""
    plain = Elf(data)
    if data.find(_MAGIC) < 0 or not check.is_kernel_module(path):
        return plain
    fat = set(plain.fat_sections)
    found: list[int] = []
    for number, section in enumerate(plain.sections):
        if number not in fat and plain.names[number].startswith(_CONSTANTS) and section.is_allocated:
            content = data[section.offset : section.end]
            at = content.find(_MAGIC)
            while at >= 0:
                container = fatbin.container_at(content, at)
                found += [section.offset + at] if container else []
                at = content.find(_MAGIC, container.end if container else at + 1)
    return Elf(data, found)


def _refuse_pointers(path: Path, elf: Elf, found: cuts.Cuts) -> None:
    """Host code knows where a fat binary begins, and nothing of the places inside it; the dynamic linker writes nothing there."""
    ranges = []
    for part in found.parts:
        shift = elf.sections[part.section].address - elf.sections[part.section].offset
        ranges.append((part.start + shift, part.end + shift))
    ranges.sort()
    begins = [begin for begin, _ in ranges]
    try:
        with Image(path) as image:
            written, pointed = {*image.pointers, *image.imports}, set(image.pointers.values())
    except (ValueError, *check.DAMAGED) as error:
        raise ValueError(f"its relocations can't be read ({error})") from None
    for address, may_begin in [*((each, False) for each in written), *((each, True) for each in pointed)]:
        i = bisect.bisect_right(begins, address) - 1
        if i >= 0 and address < ranges[i][1] and not (may_begin and address == begins[i]):
            raise ValueError(f"something refers to the inside of the fat binary at {begins[i]:#x}, to {address:#x}")


def _saved(elf: Elf, found: cuts.Cuts) -> Iterator[Saved]:
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for part in found.parts:
        for kind, entry in [
            *((e.architecture, e) for e in part.dropped),
            *(("duplicates", e) for e in part.duplicates),
        ]:
            counts[kind] += 1
            sizes[kind] += entry.end - entry.start
    debug = [elf.sections[i] for i in elf.debug_sections]
    if debug:
        counts["debug sections"] = len(debug)
        sizes["debug sections"] = sum(each.end - each.offset for each in debug)
    yield from (Saved(kind, counts[kind], sizes[kind]) for kind in counts)
