"""`kernpack bench`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from kernpack_sdk.cli import Missing

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("bench")
@click.argument("file", type=_FILE)
@click.option("-k", "pattern", default="", help="Only cases whose names contain this text.")
@click.option(
    "--seconds", type=click.FloatRange(min=0.01), default=1.0, show_default=True, help="Seconds to measure each case."
)
@click.option(
    "--compare",
    "wheels",
    type=_FILE,
    nargs=2,
    metavar="OLD.whl NEW.whl",
    help="Time each case with both wheels instead.",
)
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw the ratios (.svg, .png, .pdf).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; times in seconds.")
def command(
    file: Path,
    pattern: str,
    seconds: float,
    wheels: tuple[Path, Path] | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Time the functions of FILE, whose cases() yields (name, function, reference or None, arguments).

    A function and its reference are timed in turns; the ratio is the median over the pairs. With --compare, each wheel
    is unpacked and imported in its own process, without installing it, and the two processes are timed in turns.
    """
    from rich.console import Console
    from rich.progress import track

    if plot is not None and not _has_matplotlib():
        raise Missing("--plot needs matplotlib; install it: pip install matplotlib")
    console = Console(stderr=True)

    def shown(cases: Sequence[Any]) -> Any:
        return track(cases, "measuring", console=console, transient=True, disable=not console.is_terminal)

    try:
        rows = _compared(file, pattern, seconds, wheels, shown) if wheels else _measured(file, pattern, seconds, shown)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        _show(rows)
    if plot is not None:
        _draw(rows, plot)


def _measured(file: Path, pattern: str, seconds: float, shown: Callable[[Sequence[Any]], Any]) -> list[Any]:
    from kernpack_sdk import measure

    cases = [case for case in measure.load_cases(file) if pattern in case[0]]
    if not cases:
        raise ValueError(f"{file}: no case{f' named *{pattern}*' if pattern else ''}")
    return [
        measure.measure(name, function, reference, arguments, seconds)
        for name, function, reference, arguments in shown(cases)
    ]


def _compared(
    file: Path, pattern: str, seconds: float, wheels: tuple[Path, Path], shown: Callable[[Sequence[Any]], Any]
) -> list[Any]:
    from kernpack_sdk import compare_wheels

    return compare_wheels.compare(*wheels, file, pattern, seconds, shown)


def _show(rows: Sequence[Any]) -> None:
    from kernpack_sdk import listing
    from kernpack_sdk.measure import in_units

    other = "old" if hasattr(rows[0], "old") else "reference"
    cells = []
    for row in rows:
        than = getattr(row, other)
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        own = (in_units(row.median), in_units(row.spread))
        cells.append((row.case, *own, "" if than is None else in_units(than), ratio))
    listing.show(("case", "time", "±", other, "times as fast"), cells)


def _has_matplotlib() -> bool:
    try:
        import matplotlib as _  # noqa: F401
    except ImportError:
        return False
    return True


def _draw(rows: Sequence[Any], path: Path) -> None:
    from matplotlib.figure import Figure

    rows = [row for row in rows if row.ratio is not None]
    if not rows:
        raise click.ClickException("--plot draws ratios, but no case has a reference")
    figure = Figure(figsize=(7, 1 + 0.3 * len(rows)), layout="constrained")
    axes = figure.subplots()
    axes.barh([row.case for row in rows], [row.ratio for row in rows])
    axes.axvline(1, color="black", linewidth=1)
    axes.invert_yaxis()
    axes.set_xlabel("times as fast as the old wheel" if hasattr(rows[0], "old") else "times as fast as the reference")
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"--plot {path}: {error}") from None
