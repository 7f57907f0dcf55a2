"""Rows of the result table, and the three forms they leave in: text, JSON and pictures."""

from __future__ import annotations

import json
import textwrap
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


def row_of(result: dict[str, Any]) -> Row:
    """A row as write_json() wrote it."""
    return Row(**{each.name: result[each.name] for each in fields(Row)})


def write_plots(folder: Path, rows: list[Row], name: str = "{}.png") -> list[Path]:
    """A picture of each topic: ratios to peers against their goals, and, below, what has no peer, in its unit. The same rows give
    the same file."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "kernpack"})
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for topic in dict.fromkeys(row.topic for row in rows):
        panels = _panels([row for row in rows if row.topic == topic])
        if not panels:
            continue
        heights = [len(panel) + 2.5 for panel in panels.values()]
        figure, axes = pyplot.subplots(
            len(panels), figsize=(10, 0.32 * sum(heights) + 0.4), height_ratios=heights, squeeze=False
        )
        for (label, panel), place in zip(panels.items(), axes.flat, strict=True):
            _draw(place, panel, label)
        figure.suptitle(topic)
        figure.tight_layout()
        made.append(folder / name.format(topic.replace(" ", "_")))
        figure.savefig(made[-1], dpi=120, metadata={"Date": None} if name.endswith(".svg") else None)
        pyplot.close(figure)
    return made


RATIO = "ours / theirs (less is better)"


def _panels(rows: list[Row]) -> dict[str, list[Row]]:
    """By what the axis says."""
    panels: dict[str, list[Row]] = {}
    for row in rows:
        if row.ours is not None:
            panels.setdefault(RATIO if row.ratio is not None else row.unit, []).append(row)
    return panels


def _draw(axes: Any, rows: list[Row], label: str) -> None:
    """Horizontal bars, the first row on top, on a logarithmic axis where values are far apart; red: the goal is missed."""
    ratios = label == RATIO
    values = [row.ratio if ratios else row.ours for row in rows]
    goals = [row.goal for row in rows]
    colours = ["tab:red" if row.verdict == "missed" else "tab:blue" for row in rows]
    bars = axes.barh(range(len(rows)), values, color=colours, height=0.7)
    texts = [f"{value:.2f}" if ratios else _number(value) for value in values]
    axes.bar_label(
        bars, texts, padding=4, fontsize=8, zorder=4, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    )
    for position, goal in enumerate(goals):
        if goal is not None:
            axes.plot([goal, goal], [position - 0.4, position + 0.4], color="black", linewidth=2)
    names = [f"{row.name} / {row.peer}" if ratios else row.name for row in rows]
    axes.set_yticks(range(len(rows)), ["\n".join(textwrap.wrap(name, 60)) for name in names], fontsize=8)
    axes.invert_yaxis()
    positive = [value for value in values if value > 0]
    if positive and max(positive) > 20 * min(positive):
        axes.set_xscale("log")
    axes.margins(x=0.12)
    if ratios:
        axes.axvline(1.0, color="grey", linewidth=0.8)
    axes.set_xlabel(label + ("; black: the goal" if any(goal is not None for goal in goals) else ""))
