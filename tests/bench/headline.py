"""The top of docs/benchmarks.md: one sentence and one picture, of a few rows of `make bench`."""

from __future__ import annotations

from pathlib import Path

import figures
import pictures
from report import Row

NAME = "bench_headline.svg"
CALLS = "NumPy: a call with three arrays"
# Title, topic and name of a comparison; a peer as rows name it, and as the picture does.
GROUPS = [
    (
        CALLS,
        ("arrays", "three NumPy arrays, full signature"),
        {
            "nanobind (nb::ndarray)": "nanobind",
            "pybind11 (py::array_t)": "pybind11",
            "apache-tvm-ffi": "apache-tvm-ffi",
        },
    ),
    (
        "PyTorch: a call of an operator",
        ("torch ops", "operator through the dispatcher"),
        {"TORCH_LIBRARY": "TORCH_LIBRARY, in C++", "torch.library.custom_op": "torch.library.custom_op"},
    ),
    ("JAX: a call inside jit", ("jax", "JAX node, two attributes, chain of 200"), {"jax-tvm-ffi": "jax-tvm-ffi"}),
    (
        "Loading a module for the first time",
        ("loading", "load a module, look one function up"),
        {"apache-tvm-ffi": "apache-tvm-ffi"},
    ),
]


def compared(rows: list[Row]) -> dict[str, list[Row]]:
    """For each title the rows beside its peers. ValueError where the result lacks one."""
    found: dict[str, list[Row]] = {}
    for title, (topic, name), peers in GROUPS:
        by_peer = {row.peer: row for row in rows if (row.topic, row.name) == (topic, name) and row.ratio}
        if lacking := [peer for peer in peers if peer not in by_peer]:
            raise ValueError(f"{topic}: expected a row {name!r} beside {', '.join(lacking)}")
        found[title] = [by_peer[peer] for peer in peers]
    return found


def _times(rows: list[Row]) -> str:
    """3.0 to 5.5, from the least to the most."""
    each = sorted(1 / row.ratio for row in rows if row.ratio)
    low, high = (f"{value:.0f}" if value >= 9.5 else f"{value:.1f}" for value in (each[0], each[-1]))
    return low if low == high else f"{low} to {high}"


def sentence(rows: list[Row]) -> str:
    *calls, (_, (loaded,)) = compared(rows).items()
    numpy, torch, jax = (figures.amount(found[0].ours, found[0].unit) for _, found in calls)
    assert loaded.ratio is not None
    slower = loaded.ratio > 1
    times = f"{loaded.ratio if slower else 1 / loaded.ratio:.1f}"
    return (
        f"A call is {_times([row for _, found in calls for row in found])} times as fast as through other bindings: "
        f"{numpy} with three NumPy arrays, {torch} as a PyTorch operator, {jax} inside `jax.jit`. "
        f"Loading a module for the first time takes {figures.amount(loaded.ours, loaded.unit)}, "
        f"{times} times as {'long as' if slower else 'fast as'} with {loaded.peer}."
    )


def draw(folder: Path, rows: list[Row]) -> Path:
    """Absolute times, a panel for each group: ours in colour."""
    plots = pictures.pyplot()
    groups = compared(rows)
    lines = {title: 1 + len(found) for title, found in groups.items()}
    height = sum(0.37 * count + 0.45 for count in lines.values())
    figure, axes = plots.subplots(len(groups), figsize=(pictures.WIDTH, height), height_ratios=list(lines.values()))
    for (title, found), (_, _, peers), place in zip(groups.items(), GROUPS, axes.flat, strict=True):
        bars = [("Kernpack", found[0].ours, True)]
        bars += [(peers[row.peer], row.theirs, False) for row in found]
        place.set_axis_off()
        place.set_ylim(len(bars), -0.35)
        place.set_xlim(0, max(value for _, value, _ in bars if value))
        place.set_title(title, loc="left", fontsize=11, weight="bold", color=pictures.INK)
        for line, (name, value, ours) in enumerate(bars):
            place.barh(line + 0.72, value, height=0.34, color=pictures.LESS if ours else pictures.PLAIN)
            side = {"transform": place.get_yaxis_transform(), "va": "bottom", "fontsize": pictures.TEXT}
            place.text(0, line + 0.48, name, ha="left", weight="bold" if ours else "normal", **side)
            shown = figures.amount(value, found[0].unit)
            place.text(1, line + 0.48, shown, ha="right", weight="bold" if ours else "normal", **side)
    figure.subplots_adjust(left=0.02, right=0.98, top=1 - 0.35 / height, bottom=0.05 / height, hspace=0.5)
    pictures.save(figure, folder / NAME)
    plots.close(figure)
    return folder / NAME


def alt(rows: list[Row]) -> str:
    """The picture in words."""
    parts = []
    for (title, found), (_, _, peers) in zip(compared(rows).items(), GROUPS, strict=True):
        others = ", ".join(f"{peers[row.peer]} {figures.amount(row.theirs, row.unit)}" for row in found)
        parts.append(f"{title}: Kernpack {figures.amount(found[0].ours, found[0].unit)}, {others}")
    return "; ".join(parts)
