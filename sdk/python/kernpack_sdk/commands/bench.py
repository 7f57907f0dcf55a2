"""`kernpack bench`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click


@click.command("bench")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("-k", "pattern", default="", help="Only cases whose names hold this text.")
@click.option("--seconds", type=click.FloatRange(min=0.01), default=1.0, show_default=True, help="For each case.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; times in seconds.")
def command(file: Path, pattern: str, seconds: float, as_json: bool) -> None:
    """Time what cases() of FILE yields: (name, function, reference or None, arguments).

    A function and its reference are timed in turns; the ratio is the median over the pairs.
    """
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table
    from rich.text import Text

    from kernpack_sdk import measure

    console = Console(stderr=True)
    try:
        cases = [case for case in measure.cases_of(file) if pattern in case[0]]
    except ValueError as error:
        raise click.ClickException(f"kernpack bench: {error}") from None
    if not cases:
        raise click.ClickException(f"kernpack bench: {file}: no case{f' named *{pattern}*' if pattern else ''}")
    shown = track(cases, "measuring", console=console, transient=True, disable=not console.is_terminal)
    rows = [measure.measure(*case, seconds) for case in shown]
    if as_json:
        click.echo(json.dumps([asdict(row) for row in rows], indent=2))
        return
    table = Table("case", "time", "±", "reference", "times as fast", box=None, pad_edge=False)
    for row in rows:
        reference = "" if row.reference is None else _time(row.reference)
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        table.add_row(Text(row.case), _time(row.median), _time(row.spread), reference, ratio)
    Console().print(table)


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
