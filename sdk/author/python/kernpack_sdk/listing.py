"""A table on standard output: within the terminal's width where there is one; else plain lines, which cut and wrap nothing."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

import click


def show(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Equal cells of the first column are written once on a terminal, and on each line elsewhere, for `grep`."""
    if sys.stdout.isatty():
        _on_terminal(titles, rows)
        return
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    for row in (titles, *rows):
        click.echo("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())


def _on_terminal(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")  # long words go on in the next line: nothing is cut
    before = None
    for first, *others in rows:
        table.add_row(Text("" if first == before else first), *map(Text, others))
        before = first
    columns, lines = shutil.get_terminal_size()  # rich heeds COLUMNS on some terminals only
    Console(width=columns, height=lines).print(table)
