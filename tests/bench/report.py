"""Rows of the result table, as text and as JSON; pictures.py draws them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from harness import Timing


@dataclass
class Row:
    """One comparison. Values are in `unit`; `goal` is the largest ours/theirs aimed at, or, where there are no `theirs`, the
    largest value; None where there is none."""

    topic: str
    name: str
    ours: float | None
    theirs: float | None
    unit: str = "ns"
    goal: float | None = None
    peer: str = "apache-tvm-ffi"
    ours_median: float | None = None
    theirs_median: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return self.ours / self.theirs if self.ours is not None and self.theirs else None

    @property
    def verdict(self) -> str:
        value = self.ours if self.theirs is None else self.ratio
        if self.goal is None or value is None:
            return ""
        return "met" if value <= self.goal else "missed"


def timed_row(topic: str, name: str, timings: dict[str, Timing], goal: float | None = None, **more: object) -> Row:
    """A row from the candidates "ours" and "theirs", compared by their best repetition."""
    ours, theirs = timings["ours"], timings["theirs"]
    return Row(
        topic, name, ours.best, theirs.best, goal=goal, ours_median=ours.median, theirs_median=theirs.median, **more
    )


def table(rows: list[Row]) -> str:
    """The rows as fixed-width text."""
    header = ("what", "ours", "theirs", "unit", "ratio", "goal", "", "peer, note")
    lines = [header] + [_cells(row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    text = [
        "  ".join(_align(cell, width, i) for i, (cell, width) in enumerate(zip(line, widths, strict=False))).rstrip()
        for line in lines
    ]
    text.insert(1, "-" * max(map(len, text)))
    return "\n".join(text)


def _cells(row: Row) -> tuple[str, ...]:
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    goal = "" if row.goal is None else f"{row.goal:.2f}"
    about = "; ".join(part for part in (row.peer if row.theirs is not None else "", row.note) if part)
    return (row.name, _number(row.ours), _number(row.theirs), row.unit, ratio, goal, row.verdict, about)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _align(cell: str, width: int, column: int) -> str:
    return cell.rjust(width) if 1 <= column <= 2 or 4 <= column <= 5 else cell.ljust(width)


def write_json(path: Path, rows: list[Row], machine: dict[str, object]) -> None:
    """Everything measured, for later comparison."""
    results = [asdict(row) | {"ratio": row.ratio, "verdict": row.verdict} for row in rows]
    path.write_text(json.dumps({"machine": machine, "rows": results}, indent=1) + "\n")


def make_row(result: dict[str, Any]) -> Row:
    """A row as write_json() wrote it."""
    return Row(**{each.name: result[each.name] for each in fields(Row)})
