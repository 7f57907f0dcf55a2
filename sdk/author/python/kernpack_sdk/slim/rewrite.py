"""Writes a shared object without some of its device code and without debug sections. All addresses stay: what becomes free is zeros in
memory, which the dynamic linker maps without the file."""

from __future__ import annotations

import bisect
import dataclasses
import itertools
from collections.abc import Iterator
from typing import BinaryIO

from kernpack_sdk.slim.cuts import Cuts
from kernpack_sdk.slim.tables import EXECUTABLE, LOAD, PHDR, SECTION_SIZE, SEGMENT_SIZE, Elf, Section, Segment

_STEP = 1 << 20


@dataclasses.dataclass(frozen=True)
class _Region:
    """Bytes of the old file that stay together. `exact`: those of a segment, which move by whole pages."""

    begin: int
    end: int
    exact: bool
    alignment: int = 1


class _Moves:
    """Where each region of the old file lies in the new one."""

    def __init__(self, elf: Elf, cuts: Cuts) -> None:
        self.regions = list(_regions(elf, cuts))
        self.places: list[int] = []
        self._begins = [each.begin for each in self.regions]
        at = 0
        for each in self.regions:
            at += (each.begin - at) % elf.page if each.exact else -at % each.alignment
            self.places.append(at)
            at += each.end - each.begin
        self.end = at

    def place(self, old: int) -> int:
        """Of a byte, or of the end of a region, behind which nothing is."""
        i = max(bisect.bisect_right(self._begins, old) - 1, 0)
        region = self.regions[i]
        return self.places[i] + min(max(old - region.begin, 0), region.end - region.begin)


def write(elf: Elf, cuts: Cuts, stream: BinaryIO) -> None:
    """ValueError where the file has parts that can't be placed."""
    moves = _Moves(elf, cuts)
    sections = [
        Section(*[0] * 10) if number in elf.debug_sections else each._replace(offset=moves.place(each.offset))
        for number, each in enumerate(elf.sections)
    ]
    for number in elf.fat_sections:
        sections[number] = _closed_up(elf.sections[number], sections[number].offset, cuts)
    table, end = elf.header.segments_at, moves.end
    if cuts.holes:  # the table grows, and needs another place
        table = -(-end // elf.page) * elf.page
        end = table + _table_size(elf, cuts)
    segments = [new for each in elf.segments for new in _segments(elf, each, cuts, moves, table)]
    size = SEGMENT_SIZE * len(segments)
    segments = [
        each._replace(file_size=size, memory_size=size) if each.type == PHDR and cuts.holes else each
        for each in segments
    ]
    sections_at = -(-end // 8) * 8
    header = elf.header._replace(segments_at=table, segment_count=len(segments), sections_at=sections_at)
    _write_regions(elf, cuts, moves, stream)
    for at, content in (
        (0, header.packed()),
        (table, b"".join(each.packed() for each in segments)),
        (sections_at, b"".join(each.packed() for each in sections)),
    ):
        stream.seek(at)
        stream.write(content)


def _table_size(elf: Elf, cuts: Cuts) -> int:
    """In whole pages: the table of segments lies in memory where a hole begins. Each hole adds two segments at most, and the table one."""
    return -(-SEGMENT_SIZE * (len(elf.segments) + 2 * len(cuts.holes) + 1) // elf.page) * elf.page


def _regions(elf: Elf, cuts: Cuts) -> Iterator[_Region]:
    """In order; nothing else of the file is anything but padding."""
    head = elf.header
    loaded = [(each.offset, each.file_end) for each in elf.loads if each.file_size]
    loaded += [(0, head.size), (head.segments_at, head.segments_at + SEGMENT_SIZE * len(elf.segments))]
    exact = list(_without(_merged(loaded), cuts.holes))
    debug = set(elf.debug_sections)
    merged = _merged(loaded)
    others = []
    for number, each in enumerate(elf.sections):
        if each.end > each.offset and number not in debug and not _is_inside(each.offset, each.end, merged):
            others.append(_Region(each.offset, each.end, False, _alignment(each)))
    regions = sorted([*(_Region(*each, True) for each in exact), *others], key=lambda each: each.begin)
    _refuse_unknown(elf, regions, cuts)
    yield from regions


def _alignment(section: Section) -> int:
    if section.alignment & (section.alignment - 1) or section.alignment > 1 << 16:
        raise ValueError(f"a section has an alignment of {section.alignment} bytes")
    return max(section.alignment, 1)


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return found


def _without(ranges: list[tuple[int, int]], holes: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, int]]:
    for begin, end in ranges:
        at = begin
        for first, last in holes:
            if begin <= first and last <= end:
                yield at, first
                at = last
        if at < end:
            yield at, end


def _is_inside(begin: int, end: int, ranges: list[tuple[int, int]]) -> bool:
    return any(first <= begin and end <= last for first, last in ranges)


def _refuse_unknown(elf: Elf, regions: list[_Region], cuts: Cuts) -> None:
    """Bytes that no table speaks of: a program may look for them behind the end, as in files that unpack themselves."""
    table = elf.header.sections_at, elf.header.sections_at + SECTION_SIZE * len(elf.sections)
    debug = [(elf.sections[i].offset, elf.sections[i].end) for i in elf.debug_sections]
    at = 0
    for begin, end in sorted([*((each.begin, each.end) for each in regions), *cuts.holes, *debug, table]):
        if begin > at and any(elf.data[at:begin]):
            raise ValueError(f"the {begin - at} bytes at byte {at} belong to no section and no segment")
        at = max(at, end)
    if any(elf.data[at:]):
        raise ValueError(f"{len(elf.data) - at} bytes follow its last section, and something may read them")
    for one, two in itertools.pairwise(regions):
        if two.begin < one.end:
            raise ValueError(f"two of its parts overlap at byte {two.begin}")


def _segments(elf: Elf, segment: Segment, cuts: Cuts, moves: _Moves, table: int) -> Iterator[Segment]:
    """Itself at its new place; or in parts, with zeros behind each where a hole was. The table lies in the first hole."""
    if segment.type == PHDR and cuts.holes:
        load = next(each for each in elf.loads if each.offset <= cuts.holes[0][0] < each.file_end)
        address = load.address + cuts.holes[0][0] - load.offset
        yield segment._replace(offset=table, address=address, physical=address)
        return
    holes = [each for each in cuts.holes if segment.offset <= each[0] and each[1] <= segment.file_end]
    if segment.type != LOAD or not holes:
        yield _moved(elf, segment, moves)
        return
    edges = [segment.offset, *(at for hole in holes for at in hole), segment.file_end]
    ends = [*(end for _, end in holes), segment.offset + segment.memory_size]  # in memory
    for begin, end, last in zip(edges[::2], edges[1::2], ends, strict=True):
        has_table = end == cuts.holes[0][0]
        if begin < (end if has_table else last):
            yield from _with_zeros(_moved(elf, _piece(segment, begin, end, end if has_table else last), moves))
        if has_table:
            room = _piece(segment, end, end + _table_size(elf, cuts), last)
            yield from _with_zeros(room._replace(offset=table, alignment=elf.page))


def _with_zeros(segment: Segment) -> Iterator[Segment]:
    """Zeros behind instructions are a segment of their own: SELinux may refuse memory without a file that can be executed."""
    zeros = segment.memory_size - segment.file_size
    if not zeros or not segment.is_executable:
        yield segment
        return
    if segment.file_size:
        yield segment._replace(memory_size=segment.file_size)
    yield segment._replace(
        flags=segment.flags & ~EXECUTABLE,
        offset=segment.file_end,
        address=segment.address + segment.file_size,
        physical=segment.physical + segment.file_size,
        file_size=0,
        memory_size=zeros,
    )


def _piece(segment: Segment, begin: int, end: int, last: int) -> Segment:
    """Places of the old file; `last` is the end in memory."""
    return segment._replace(
        offset=begin,
        address=segment.address + begin - segment.offset,
        physical=segment.physical + begin - segment.offset,
        file_size=end - begin,
        memory_size=last - begin,
    )


def _moved(elf: Elf, segment: Segment, moves: _Moves) -> Segment:
    place = moves.place(segment.offset)
    if segment.type != LOAD:
        return segment._replace(offset=place)
    place += (segment.address - place) % elf.page  # of a segment without bytes in the file
    fits = segment.alignment and (place - segment.address) % segment.alignment == 0
    return segment._replace(offset=place, alignment=segment.alignment if fits else elf.page)


def _closed_up(section: Section, place: int, cuts: Cuts) -> Section:
    """Its bytes in the file, which lie together: cuobjdump reads one section of a name, and takes zeros between fat binaries."""
    lost = sum(end - begin for begin, end in cuts.holes if section.offset <= begin and end <= section.end)
    return section._replace(offset=place, size=section.size - lost)


def _write_regions(elf: Elf, cuts: Cuts, moves: _Moves, stream: BinaryIO) -> None:
    for region, place in zip(moves.regions, moves.places, strict=True):
        stream.seek(place)
        for at in range(region.begin, region.end, _STEP):
            stream.write(elf.data[at : min(at + _STEP, region.end)])
    for part in cuts.parts:
        stream.seek(moves.place(part.start))
        stream.write(part.content)
        for begin, end in _without([part.free], cuts.holes):
            stream.seek(moves.place(begin))
            stream.write(bytes(end - begin))
