"""The picture of a plan: devices as lanes, calls as boxes, copies as arrows. For seeing at a glance what the planner decided:
which call runs where, what is copied, what runs at the same time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from kernpack_compiler.program._layout import Arrow, Box, Layout, shown_bytes

_COLUMNS = 8  # a band
_LINES = 6  # a box
_WIDTH, _LINE, _GAP = 1.9, 0.2, 0.55  # inches: a column with the room beside it, a line of text, room between lanes
_STUB = 0.3  # of an arrow that goes on in another band
_ARROW = "#8c1d18"
_COLORS = ("#dbe9f6", "#fde3c8", "#dcefd5", "#eadcf2", "#f6dbe4", "#e6e6d6")


def draw(layout: Layout, title: str, file: str | os.PathLike[str]) -> Path:
    """Writes an SVG, PNG or PDF, by the file's ending. RuntimeError when matplotlib is not installed."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise RuntimeError("Plan.draw needs matplotlib: pip install matplotlib") from None
    path = Path(file)
    known = (".svg", ".png", ".pdf")
    if path.suffix not in known:
        raise ValueError(f"Plan.draw: expected a file that ends in {', '.join(known)}, got '{path}'")
    picture = _Picture(layout)
    width, height = picture.size
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    axes.text(0.15, 0.3, title, fontsize=12, fontweight="bold", va="center")
    picture.draw(axes)
    # The same plan gives the same file, to the byte; text stays text, which can be searched.
    with matplotlib.rc_context({"svg.hashsalt": "kernpack", "svg.fonttype": "none"}):
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
    return path


class _Picture:
    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._bands = max(1, -(-layout.columns // _COLUMNS))
        self._margin = 0.35 + 0.085 * max((len(lane) for lane in layout.lanes), default=0)
        self._heights = [self._lane_height(lane) for lane in layout.lanes]
        self._band_height = sum(self._heights) + _GAP * (len(self._heights) - 1)

    @property
    def size(self) -> tuple[float, float]:
        columns = min(_COLUMNS, self._layout.columns)
        return self._margin + columns * _WIDTH + 0.3, 0.6 + self._bands * (self._band_height + 0.25)

    def _lane_height(self, lane: str) -> float:
        lines = [len(_text(box)) for box in self._layout.boxes if box.lane == lane]
        return 0.2 + _LINE * max(lines, default=1)

    def _top(self, band: int, lane: str) -> float:
        index = self._layout.lanes.index(lane)
        return 0.6 + band * (self._band_height + 0.25) + sum(self._heights[:index]) + _GAP * index

    def _frame(self, box: Box) -> tuple[float, float, float, float]:
        """Left, top, width, height."""
        band, column = divmod(box.column, _COLUMNS)
        height = 0.14 + _LINE * len(_text(box))
        lane = self._layout.lanes.index(box.lane)
        top = self._top(band, box.lane) + (self._heights[lane] - height) / 2
        return self._margin + column * _WIDTH + 0.2, top, _WIDTH - 0.4, height

    def draw(self, axes: Any) -> None:
        for band in range(self._bands):
            for lane in self._layout.lanes:
                self._draw_lane(axes, band, lane)
        for box in self._layout.boxes:
            self._draw_box(axes, box)
        for arrow in self._layout.arrows:
            self._draw_arrow(axes, arrow)

    def _draw_lane(self, axes: Any, band: int, lane: str) -> None:
        from matplotlib.patches import Rectangle

        index = self._layout.lanes.index(lane)
        top, color = self._top(band, lane), _COLORS[index % len(_COLORS)]
        width = self.size[0] - 0.2
        axes.add_patch(Rectangle((0.1, top - 0.06), width, self._heights[index] + 0.12, facecolor=color, alpha=0.45))
        axes.text(0.2, top + self._heights[index] / 2, lane, fontsize=9, fontweight="bold", va="center")

    def _draw_box(self, axes: Any, box: Box) -> None:
        from matplotlib.patches import FancyBboxPatch

        left, top, width, height = self._frame(box)
        color = _COLORS[self._layout.lanes.index(box.lane) % len(_COLORS)]
        style = "round,pad=0,rounding_size=0.06"
        axes.add_patch(
            FancyBboxPatch((left, top), width, height, boxstyle=style, facecolor=color, edgecolor="#444444", zorder=2)
        )
        for index, line in enumerate(_text(box)):
            middle = top + 0.07 + _LINE * (index + 0.5)
            style = "italic" if line.startswith("+ ") else "normal"
            axes.text(left + width / 2, middle, line, fontsize=7.5, ha="center", va="center", style=style, zorder=3)

    def _draw_arrow(self, axes: Any, arrow: Arrow) -> None:
        """From box to box; across bands a stub behind the one and a stub before the other."""
        begin, end = self._frame(arrow.begin), self._frame(arrow.end)
        down = begin[1] < end[1]
        out = begin[0] + begin[2] * 0.75, begin[1] + (begin[3] if down else 0)
        into = end[0] + end[2] * 0.25, end[1] + (0 if down else end[3])
        label = shown_bytes(arrow.nbytes)
        if arrow.begin.column // _COLUMNS == arrow.end.column // _COLUMNS:
            _line(axes, out, into, label)
            return
        for side, (left, top, width, height) in ((0, begin), (1, end)):
            at = left + width if side == 0 else left - _STUB
            _line(axes, (at, top + height / 2), (at + _STUB, top + height / 2), "")
            axes.text(at + _STUB / 2, top + height / 2 - 0.09, label, fontsize=6, ha="center", color=_ARROW, zorder=4)


def _text(box: Box) -> list[str]:
    given = [f"+ {len(box.given)} inputs, {shown_bytes(box.given).split(', ')[-1]}"] if box.given else []
    return box.lines(_LINES) + given


def _line(axes: Any, begin: tuple[float, float], end: tuple[float, float], label: str) -> None:
    axes.annotate(
        "", xy=end, xytext=begin, zorder=4,
        arrowprops={"arrowstyle": "-|>", "color": _ARROW, "shrinkA": 0, "shrinkB": 0, "linewidth": 1},
    )  # fmt: skip
    if label:
        middle = (begin[0] + end[0]) / 2 + 0.06, (begin[1] + end[1]) / 2
        axes.text(*middle, label, fontsize=6.5, va="center", color=_ARROW, zorder=4)
