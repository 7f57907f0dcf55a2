"""The tables of docs/ops-matrix.md: read by the tests, written by `python table.py facts`, `torch` or `jax`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from op_sample import Sample

PAGE = Path(__file__).resolve().parents[3] / "docs" / "ops-matrix.md"


def section(framework: str, cells: dict[tuple[str, str], str]) -> str:
    """The table of `cells`: (function, column) to a word."""
    columns = list(dict.fromkeys(column for _, column in cells))
    names = dict.fromkeys(name for name, _ in cells)
    rows = [f"| `{name}` | {' | '.join(cells[name, column] for column in columns)} |" for name in names]
    head = [f"| {framework} | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    return "\n".join([*head, *rows])


def _marks(framework: str) -> tuple[str, str]:
    return f"<!-- {framework}: written by tests/python/matrix/table.py -->\n", f"\n<!-- end of {framework} -->"


def read(framework: str) -> str:
    """The framework's section of the page."""
    begin, end = _marks(framework)
    return PAGE.read_text(encoding="utf-8").partition(begin)[2].partition(end)[0]


def cell(framework: str, function: str, column: str) -> str:
    """One word of the page's table; empty where there is none."""
    rows = [[word.strip() for word in line.strip("|").split("|")] for line in read(framework).splitlines()]
    head, *body = rows or [[]]
    words = next((row for row in body if row[0] == f"`{function}`"), [])
    return words[head.index(column)] if column in head and words else ""


def found(framework: str, column: str, op: Callable[..., Any], sample: Sample) -> str:
    """The result of a column's check. If the sample says that the op lacks the feature, the framework must refuse it."""
    check = importlib.import_module(f"{framework}_cells").COLUMNS[column]
    reason = sample.lacks.get(f"{framework} {column}") or sample.lacks.get(column)
    if reason is None:
        said: str = check(op, sample)
        return said
    try:
        check(op, sample)
    except AssertionError:
        raise  # it ran, and gave other numbers
    except Exception:
        return f"no: {reason}"
    raise AssertionError(f"{framework} {column}: expected a refusal, but it works: take it out of the sample's `lacks`")


def write(framework: str) -> None:
    """Runs every check of the framework and puts what they say into the page."""
    import kernpack
    from samples import SAMPLES

    if framework == "jax":
        importlib.import_module("jax").config.update("jax_enable_x64", True)
    k = kernpack.load("kernpack_kernels")
    columns = importlib.import_module(f"{framework}_cells").COLUMNS
    cells = {(name, c): found(framework, c, getattr(k, name), s) for name, s in SAMPLES.items() for c in columns}
    begin, end = _marks(framework)
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        text.replace(begin + read(framework) + end, begin + section(framework, cells) + end), encoding="utf-8"
    )


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write(name)
