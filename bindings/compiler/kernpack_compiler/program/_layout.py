"""Where the drawing of a plan puts things: calls gather in boxes, boxes stand in columns, columns break into bands.

A lane is a device's stream. A column is a stretch of time: what stands in one column depends on nothing in it on another lane. A
plan too long for one line goes on in the next band, as music does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence


@dataclasses.dataclass(frozen=True)
class Work:
    """A step that runs on a lane."""

    lane: str
    label: str
    inputs: tuple[int, ...]  # values
    outputs: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Transfer:
    """A copy between lanes; it runs on none of those that are drawn."""

    source: int  # value
    result: int  # value
    nbytes: int | None  # None: not known before the run


@dataclasses.dataclass
class Box:
    """Consecutive calls of one lane that nothing from another lane comes between."""

    lane: str
    column: int
    labels: list[str] = dataclasses.field(default_factory=list)
    given: list[int | None] = dataclasses.field(default_factory=list)  # bytes of the parameters that are copied here

    def lines(self, most: int) -> list[str]:
        """The text of the box, one line per function, at most `most`; "matmul x3" for a run of three."""
        runs: list[tuple[str, int]] = []
        for label in self.labels:
            if runs and runs[-1][0] == label:
                runs[-1] = label, runs[-1][1] + 1
            else:
                runs.append((label, 1))
        shown = [label if count == 1 else f"{label} x{count}" for label, count in runs]
        if len(shown) <= most:
            return shown
        return [*shown[: most - 1], f"and {len(self.labels) - sum(count for _, count in runs[: most - 1])} more"]


@dataclasses.dataclass
class Arrow:
    """Copies from one box to another."""

    begin: Box
    end: Box
    nbytes: list[int | None] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Layout:
    lanes: list[str]
    boxes: list[Box]
    arrows: list[Arrow]

    @property
    def columns(self) -> int:
        return 1 + max((box.column for box in self.boxes), default=-1)


def arrange(lanes: Iterable[str], steps: Sequence[Work | Transfer]) -> Layout:
    """Boxes and arrows for steps in the order of the plan. Values that no step gives are the program's parameters.

    A copy is drawn to the first box that uses it: the others find it there.
    """
    layout = Layout(list(lanes), [], [])
    home: dict[int, Box] = {}  # of each value: the box that gives it
    copies: dict[int, Transfer] = {step.result: step for step in steps if isinstance(step, Transfer)}
    last: dict[str, Box] = {}
    arrows: dict[tuple[int, int], Arrow] = {}
    drawn: set[int] = set()
    for step in steps:
        if isinstance(step, Transfer):
            continue
        sources = [_origin(value, copies, home) for value in step.inputs]
        box = _box_for(step.lane, [source for source, _ in sources if source is not None], last, layout)
        box.labels.append(step.label)
        for source, copy in sources:
            if copy is None or copy.result in drawn:
                continue
            drawn.add(copy.result)
            if source is None:
                box.given.append(copy.nbytes)
            elif source is not box:
                arrow = arrows.setdefault((id(source), id(box)), Arrow(source, box))
                arrow.nbytes.append(copy.nbytes)
        home.update(dict.fromkeys(step.outputs, box))
    layout.arrows = list(arrows.values())
    return layout


def _origin(value: int, copies: Mapping[int, Transfer], home: Mapping[int, Box]) -> tuple[Box | None, Transfer | None]:
    """The box that a value comes from, through copies, and the last copy on the way."""
    copy = copies.get(value)
    source = value
    while source in copies:
        source = copies[source].source
    return home.get(source), copy


def _box_for(lane: str, sources: list[Box], last: dict[str, Box], layout: Layout) -> Box:
    """The lane's last box, or a new one to the right of everything on other lanes that this work waits for."""
    column = max((box.column + (box.lane != lane) for box in sources), default=0)
    open_box = last.get(lane)
    if open_box is not None and open_box.column >= column:
        return open_box
    last[lane] = Box(lane, column)
    layout.boxes.append(last[lane])
    return last[lane]


def shown_bytes(sizes: Sequence[int | None]) -> str:
    """ "2 copies, 360 KB"; of one copy the size alone."""
    known = [size for size in sizes if size is not None]
    total = _bytes(sum(known)) if len(known) == len(sizes) else "size known at run time"
    return total if len(sizes) == 1 else f"{len(sizes)} copies, {total}"


def _bytes(count: int) -> str:
    amount, unit = float(count), "B"
    for larger in ("KB", "MB", "GB"):
        if amount < 1000:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.3g} {unit}" if amount < 1000 else f"{amount:.0f} {unit}"
