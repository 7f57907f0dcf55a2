"""Finds the parts of a shared object that go: entries of fat binaries, and whole pages of the file that become free by it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from kernpack_sdk.audit import fatbin
from kernpack_sdk.slim.choice import Choice
from kernpack_sdk.slim.tables import LOAD, SEGMENT_SIZE, Elf

# A hole costs the dynamic linker two calls of mmap when the file is loaded. Smaller ones stay as zeros, and wheels are compressed.
_SMALLEST_HOLE = 1 << 16
_MOST_HOLES = 64
_ALIGNED = 8  # what nvcc aligns entries to


@dataclasses.dataclass(frozen=True)
class Part:
    """A fat binary some of whose entries go; places count from the begin of the file."""

    section: int
    start: int
    end: int
    content: bytes  # its header and the entries that stay; zeros follow
    dropped: tuple[fatbin.Entry, ...]
    duplicates: tuple[fatbin.Entry, ...]

    @property
    def free(self) -> tuple[int, int]:
        return self.start + len(self.content), self.end


@dataclasses.dataclass(frozen=True)
class Cuts:
    parts: tuple[Part, ...]
    holes: tuple[tuple[int, int], ...]  # ranges of the old file that are left out, in order


def entries(elf: Elf) -> Iterator[fatbin.Entry]:
    """Of all fat binaries."""
    for _, found in elf.containers():
        for container in found:
            yield from container.entries


def count_whole(elf: Elf, choice: Choice) -> int:
    """How many fat binaries have no code for the GPUs that were asked for, and stay whole."""
    return sum(bool(each.entries) and not choice.finds(each.entries) for _, found in elf.containers() for each in found)


def find(elf: Elf, choice: Choice) -> Cuts:
    """ValueError where something else than device code would be lost."""
    parts = tuple(part for number, found in elf.containers() for part in _parts(elf, number, found, choice))
    if not parts:
        return Cuts((), ())
    fat = elf.fat_sections  # sections with other content stay in one piece
    free = sorted(
        (_whole_pages(elf, *part.free) for part in parts if part.section in fat), key=lambda each: each[0] - each[1]
    )
    return Cuts(parts, tuple(sorted(each for each in free[:_MOST_HOLES] if each[1] - each[0] >= _SMALLEST_HOLE)))


def _parts(elf: Elf, number: int, found: list[fatbin.Container], choice: Choice) -> Iterator[Part]:
    section = elf.sections[number]
    name = elf.names[number]
    data = elf.data[section.offset : section.end]
    for each in found:
        keep = choice.keep(data, each.entries, name)
        if all(keep):
            continue
        stays = [entry for entry, stay in zip(each.entries, keep, strict=True) if stay]
        goes = [entry for entry, stay in zip(each.entries, keep, strict=True) if not stay]
        _refuse_overlap(elf, number)
        if any((entry.end - entry.start) % _ALIGNED for entry in goes):
            raise ValueError(f"{name}: the entries of the fat binary at byte {each.start} aren't aligned to 8 bytes")
        kept = {data[entry.start : entry.end] for entry in stays}
        magic, version, header, _ = fatbin.HEADER.unpack_from(data, each.start)
        added = choice.added(data, each.entries, name)
        size = sum(entry.end - entry.start for entry in stays) + len(added)
        head = fatbin.HEADER.pack(magic, version, header, size) + data[each.start + fatbin.HEADER.size : each.begin]
        yield Part(
            number,
            section.offset + each.start,
            section.offset + each.end,
            head + b"".join(data[entry.start : entry.end] for entry in stays) + added,
            tuple(entry for entry in goes if data[entry.start : entry.end] not in kept),
            tuple(entry for entry in goes if data[entry.start : entry.end] in kept),
        )


def _refuse_overlap(elf: Elf, number: int) -> None:
    """Nothing but the one segment and the one section may claim these bytes."""
    section = elf.sections[number]
    elf.find_load(section)
    for i, other in enumerate(elf.sections):
        if i != number and other.offset < section.end and section.offset < other.end:
            raise ValueError(f"the sections {elf.names[number]} and {elf.names[i]} overlap")
    for segment in elf.segments:
        if segment.type != LOAD and segment.offset < section.end and section.offset < segment.file_end:
            raise ValueError(f"a segment of type {segment.type:#x} lies in {elf.names[number]}")
    tables = [
        (0, elf.header.size),
        (elf.header.segments_at, elf.header.segments_at + SEGMENT_SIZE * len(elf.segments)),
    ]
    if any(begin < section.end and section.offset < end for begin, end in tables):
        raise ValueError(f"the header of the file lies in {elf.names[number]}")


def _whole_pages(elf: Elf, begin: int, end: int) -> tuple[int, int]:
    """Pages of memory: places in the file and addresses differ by whole pages."""
    load = next(each for each in elf.loads if each.offset <= begin and end <= each.file_end)
    shift = load.address - load.offset
    return -(-(begin + shift) // elf.page) * elf.page - shift, (end + shift) // elf.page * elf.page - shift
