"""Proves that a slimmed shared object is the old one without the device code that was to go: read anew from both files' tables, with
nothing of how the new file was written. ValueError where anything else differs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from kernpack_sdk.audit import fatbin
from kernpack_sdk.slim.choice import Choice
from kernpack_sdk.slim.tables import EXECUTABLE, LOAD, PHDR, SEGMENT_SIZE, Elf, Section

_STEP = 1 << 20
# Of the ELF header, which is a part of the memory of most files: where the tables of segments and sections are, and their sizes.
_PLACES = ((32, 48), (56, 58), (60, 64))
_Range = tuple[int, int]


class _Run(NamedTuple):
    """Addresses that one segment maps, to bytes of the file or, where `offset` is None, to zeros."""

    begin: int
    end: int
    flags: int
    offset: int | None


def check(old: Elf, new: Elf, choice: Choice) -> None:
    changed = list(_check_device_code(old, new, choice))
    loads_header = old.loads[0].offset == 0
    header = (
        [(begin + old.loads[0].address, end + old.loads[0].address) for begin, end in _PLACES] if loads_header else []
    )
    _check_memory(old, new, sorted([*changed, *header]))
    _check_segments(old, new)
    _check_sections(old, new, changed)
    if _identity(old) != _identity(new):
        raise ValueError("the ELF header changed")


def _identity(elf: Elf) -> bytes:
    head = elf.header._replace(segments_at=0, segment_count=0, sections_at=0, section_count=0)
    return head.packed()


def _runs(elf: Elf) -> list[_Run]:
    found = []
    for each in elf.loads:
        middle, end = each.address + each.file_size, each.address + each.memory_size
        found += [_Run(each.address, middle, each.flags, each.offset), _Run(middle, end, each.flags, None)]
    return [each for each in found if each.begin < each.end]


def _check_memory(old: Elf, new: Elf, but: list[_Range]) -> None:
    """All bytes that the program headers map are equal, outside of those ranges, with equal rights."""
    before, after = _runs(old), _runs(new)
    edges = sorted(
        {at for each in (*before, *after) for at in (each.begin, each.end)} | {at for each in but for at in each}
    )
    skipped = 0
    one = two = 0
    for begin, end in itertools.pairwise(edges):
        while one < len(before) and before[one].end <= begin:
            one += 1
        while two < len(after) and after[two].end <= begin:
            two += 1
        first = before[one] if one < len(before) and before[one].begin <= begin else None
        second = after[two] if two < len(after) and after[two].begin <= begin else None
        while skipped < len(but) and but[skipped][1] <= begin:
            skipped += 1
        is_skipped = skipped < len(but) and but[skipped][0] <= begin
        flags = [each and each.flags for each in (first, second)]
        if first and second and is_skipped and second.offset is None:
            flags[0] = first.flags & (~EXECUTABLE | second.flags)  # zeros need not be executable
        if flags[0] != flags[1]:
            raise ValueError(f"the memory at {begin:#x} is mapped in another way")
        if first and second and not is_skipped and (first.offset, second.offset) != (None, None):
            for at in range(begin, end, _STEP):
                until = min(at + _STEP, end)
                if _bytes(old, first, at, until) != _bytes(new, second, at, until):
                    raise ValueError(f"the memory from {at:#x} to {until:#x} isn't equal")


def _bytes(elf: Elf, run: _Run, begin: int, end: int) -> bytes:
    if run.offset is None:
        return bytes(end - begin)
    return elf.data[run.offset + begin - run.begin : run.offset + end - run.begin]


def _memory(elf: Elf, begin: int, end: int) -> bytes:
    """All of it must be mapped."""
    found = []
    at = begin
    for run in _runs(elf):
        if run.begin <= at < run.end and at < end:
            until = min(run.end, end)
            found.append(_bytes(elf, run, at, until))
            at = until
    if at < end:
        raise ValueError(f"nothing is mapped at {at:#x}, where device code was")
    return b"".join(found)


def _table(elf: Elf) -> _Range | None:
    """The addresses of the table of segments."""
    begin, end = elf.header.segments_at, elf.header.segments_at + SEGMENT_SIZE * len(elf.segments)
    for each in elf.loads:
        if each.offset <= begin and end <= each.file_end:
            return begin - each.offset + each.address, end - each.offset + each.address
    return None


def _check_device_code(old: Elf, new: Elf, choice: Choice) -> Iterator[_Range]:
    """The addresses of the fat binaries that lost entries. Each must have its other entries in order, and zeros behind them."""
    moved = _table(new) if _table(new) != _table(old) else None
    for number, found in old.containers():
        section = old.sections[number]
        before = _memory(old, section.address, section.address + section.size)
        after = _memory(new, section.address, section.address + section.size)
        for each in found:
            keep = choice.keep(before, each.entries, old.names[number])
            expected = b"".join(before[e.start : e.end] for e, stays in zip(each.entries, keep, strict=True) if stays)
            expected += b"" if all(keep) else choice.added(before, each.entries, old.names[number])
            magic, version, header, _ = fatbin.HEADER.unpack_from(before, each.start)
            head = fatbin.HEADER.pack(magic, version, header, len(expected))
            expected = head + before[each.start + fatbin.HEADER.size : each.begin] + expected
            content = after[each.start : each.end]
            kept, rest = content[: len(expected)], bytearray(content[len(expected) :])
            if all(keep) and content != before[each.start : each.end]:
                raise ValueError("a fat binary changed of which nothing was to go")
            if moved:
                begin, end = (at - section.address - each.start - len(expected) for at in moved)
                if begin >= 0 and end <= len(rest):
                    rest[begin:end] = bytes(end - begin)
                    moved = None
            if kept != expected or any(rest):
                raise ValueError("a fat binary has something else than the entries that were to stay")
            if not all(keep):
                yield section.address + each.start, section.address + each.end
    if moved:
        raise ValueError("the table of segments lies where something else was")


def _check_segments(old: Elf, new: Elf) -> None:
    """Beside those that are loaded, which the comparison of memory reads."""
    one, two = ([each._replace(offset=0) for each in elf.segments_but(LOAD, PHDR)] for elf in (old, new))
    if one != two:
        raise ValueError("a segment that says how to load the file changed")
    for before, after in zip(old.segments_but(LOAD, PHDR), new.segments_but(LOAD, PHDR), strict=True):
        if old.data[before.offset : before.file_end] != new.data[after.offset : after.file_end]:
            raise ValueError(f"the content of a segment of type {before.type:#x} changed")
    for each in new.segments:
        if each.type == PHDR and (each.address, each.address + each.memory_size) != _table(new):
            raise ValueError("the segment that says where the table of segments is says something else")


def _check_sections(old: Elf, new: Elf, changed: list[_Range]) -> None:
    """Every section but device code and debug sections: equal names, addresses, sizes and bytes."""
    fat, debug = set(old.fat_sections), set(old.debug_sections)
    if len(old.sections) != len(new.sections):
        raise ValueError("the number of sections changed")
    for number, (before, after) in enumerate(zip(old.sections, new.sections, strict=True)):
        if number in debug:
            if any(after):
                raise ValueError(f"a part of {old.names[number]} remains")
        elif number in fat:
            if before._replace(offset=0, size=0) != after._replace(offset=0, size=0) or not _is_closed_up(
                new, after, before
            ):
                raise ValueError(f"{old.names[number]} doesn't have the device code that is in memory")
        elif before._replace(offset=0) != after._replace(offset=0) or (
            _content(old, before, changed) != _content(new, after, changed)
        ):
            raise ValueError(f"the section {old.names[number]} changed")


def _content(elf: Elf, section: Section, changed: list[_Range]) -> bytes | bytearray:
    """Without the fat binaries among its constants that lost entries."""
    inside = [
        each for each in changed if section.is_allocated and section.address <= each[0] < section.address + section.size
    ]
    if not inside:
        return elf.data[section.offset : section.end]
    content = bytearray(elf.data[section.offset : section.end])
    for begin, end in inside:
        content[begin - section.address : end - section.address] = bytes(end - begin)
    return content


def _is_closed_up(new: Elf, section: Section, before: Section) -> bool:
    """True if tools that read the section find the fat binaries that are in memory, in order."""
    table = _table(new)
    memory = bytearray(_memory(new, before.address, before.address + before.size))
    if table and before.address <= table[0] and table[1] <= before.address + before.size:
        memory[table[0] - before.address : table[1] - before.address] = bytes(table[1] - table[0])
    there, here = bytes(memory), new.data[section.offset : section.end]
    return [there[each.start : each.end] for each in fatbin.containers(there)] == [
        here[each.start : each.end] for each in fatbin.containers(here)
    ]
