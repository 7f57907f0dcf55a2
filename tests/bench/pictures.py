"""Draws rows: for each topic a picture of bars, narrow enough to be read on a phone. An SVG follows the reader's light or dark mode.

A ratio's bar begins at 1, on a logarithmic axis: to the left and blue, ours takes less than the peer; to the right and orange, more. Bars
that compare no peer are grey. A goal is a tick: it says what we aim at, and colours nothing."""

from __future__ import annotations

import math
import re
import textwrap
from pathlib import Path
from typing import Any

import figures
from report import Row

# Light and dark, for each role. Only a role's light colour may stand in a picture: it is replaced by name.
COLOURS = {
    "ink": ("#1f2329", "#e4e6ea"),
    "faint": ("#5b6470", "#a4adb8"),
    "line": ("#c9ced6", "#4a525d"),
    "less": ("#1b6fc2", "#5aa9f0"),
    "more": ("#c2570c", "#f0904a"),
    "plain": ("#78808c", "#8d96a2"),
}
INK, FAINT, LINE, LESS, MORE, PLAIN = (light for light, _ in COLOURS.values())
WIDTH = 4.7  # inches; a phone shows 7 tenths of that, and a label has 7 points of 10 there
TEXT = 10
_LETTERS = 50  # of a label's line, beside the figure at its end


def style() -> str:
    """The colours by name, with the reader's mode."""
    light = " ".join(f"--{name}: {colours[0]};" for name, colours in COLOURS.items())
    dark = " ".join(f"--{name}: {colours[1]};" for name, colours in COLOURS.items())
    return f"<style>:root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}</style>"


def pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    settings: dict[Any, Any] = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color"), INK)
    settings |= {"axes.edgecolor": LINE, "font.size": TEXT, "font.sans-serif": ["Liberation Sans", "DejaVu Sans"]}
    matplotlib.rcParams.update(settings | {"svg.fonttype": "none", "svg.hashsalt": "kernpack"})
    from matplotlib import pyplot as plots

    return plots


def save(figure: Any, file: Path) -> None:
    """The same rows give the same file. Only an SVG is transparent and has two modes."""
    if file.suffix != ".svg":
        figure.savefig(file, dpi=150)
        return
    figure.savefig(file, transparent=True, metadata={"Date": None})
    text = file.read_text(encoding="utf-8")
    for name, (light, _) in COLOURS.items():
        text = text.replace(light, f"var(--{name})")
    text = re.sub(r"(<svg\b[^>]*>)", lambda head: f"{head[1]}\n {style()}", text, count=1)
    text = text.replace("'DejaVu Sans', sans-serif", "Arial, sans-serif")
    file.write_text(text, encoding="utf-8")


def write_plots(folder: Path, rows: list[Row], name: str = "{}.png") -> list[Path]:
    """A picture of each topic: by what is compared, in panels."""
    plots = pyplot()
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for topic in dict.fromkeys(row.topic for row in rows):
        panels = group_panels([row for row in rows if row.topic == topic])
        if not panels:
            continue
        heights = [_height(panel) for panel in panels.values()]
        whole = sum(heights) + _AXIS * len(panels)
        figure = plots.figure(figsize=(WIDTH, whole))
        top = whole
        for (words, panel), height in zip(panels.items(), heights, strict=True):
            _draw(figure.add_axes((0.02, (top - height) / whole, 0.96, height / whole)), panel, words)
            top -= height + _AXIS
        made.append(folder / name.format(topic.replace(" ", "_")))
        save(figure, made[-1])
        plots.close(figure)
    return made


def group_panels(rows: list[Row]) -> dict[str, list[Row]]:
    """The rows by what their axis says; comparisons with peers first."""
    panels: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: not figures.beside_a_peer(row)):
        if row.ours is not None:
            panels.setdefault(figures.axis(row), []).append(row)
    return panels


_ROW, _LABEL, _AXIS = 0.22, 0.17, 0.66  # inches: a bar, a line of its label, the axis with its words and room below


def _label(row: Row) -> list[str]:
    name = f"{row.name} / {row.peer}" if figures.beside_a_peer(row) else row.name
    return textwrap.wrap(name, _LETTERS, break_on_hyphens=False)


def _height(panel: list[Row]) -> float:
    return sum(_ROW + _LABEL * len(_label(row)) for row in panel) + _ROW / 4


def _draw(axes: Any, rows: list[Row], words: str) -> None:
    ratios = rows[0].ratio is not None
    values = [float(row.ratio if ratios else row.ours) for row in rows]  # type: ignore[arg-type]
    tops = [0.0]
    for row in rows:
        tops.append(tops[-1] + _ROW + _LABEL * len(_label(row)))
    goals = [row.goal for row in rows if row.goal]
    if ratios:
        axes.set_xscale("log")
        low, high = min(0.5, *values, *goals) / 1.15, max(2.0, *values, *goals) * 1.15
    else:
        low, high = 0.0, max(*values, *goals, 1e-9) * 1.05 if len(values + goals) > 1 else values[0] * 1.05
    axes.set_xlim(low, high)
    axes.set_ylim(tops[-1] + _ROW / 4, 0)
    for row, value, top in zip(rows, values, tops, strict=False):
        label = _label(row)
        middle = top + _LABEL * len(label) + 0.4 * _ROW
        colour = PLAIN if not figures.beside_a_peer(row) else LESS if value <= 1 else MORE
        if ratios:
            axes.plot([1, 1], [middle - 0.08, middle + 0.08], color=FAINT, linewidth=1)
            axes.barh(middle, value - 1, left=1, height=0.11, color=colour)
        else:
            axes.barh(middle, value, height=0.11, color=colour)
        side = {"transform": axes.get_yaxis_transform(), "va": "bottom", "fontsize": TEXT}
        for line, text in enumerate(label):
            axes.text(0, top + _LABEL * (line + 1), text, ha="left", **side)
        shown = figures.three_digits(value) if ratios else figures.amount(value, row.unit)
        axes.text(1, top + _LABEL * len(label), shown, ha="right", weight="bold", **side)
        if row.goal:
            axes.plot([row.goal] * 2, [middle - 0.08, middle + 0.08], color=INK, linewidth=1.6)
    _axis(axes, words, ratios, bool(goals), (low, high))


def _axis(axes: Any, words: str, ratios: bool, goals: bool, limits: tuple[float, float]) -> None:
    axes.set_yticks([])
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.minorticks_off()
    if ratios:
        ticks = _ticks(*limits)
        axes.set_xticks(ticks, [f"{tick:,g}" for tick in ticks], fontsize=TEXT)
    else:
        axes.xaxis.set_major_locator(_locator())
        axes.tick_params(labelsize=TEXT)
    axes.tick_params(axis="x", color=LINE)
    axes.set_xlabel(words + ("; tick: the goal" if goals else ""), fontsize=TEXT, color=FAINT)


def _ticks(low: float, high: float) -> list[float]:
    """Powers of ten, and with few of those 2 and 5 times of them; 1 is among them."""
    wide = math.log10(high / low) > 1.7
    steps = (1,) if wide else (1, 2, 5)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]


def _locator() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4)
