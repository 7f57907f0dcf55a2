"""Configurations that `kernpack bench` measures on a device: the cases for it, and the file that it writes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from kernpack_compiler._imports._function import ImportedFunction
from kernpack_compiler._imports._module import build_imported

Row: TypeAlias = Mapping[str, Any]
Case: TypeAlias = tuple[str, Callable[..., Any], None, tuple[Any, ...]]


def config_cases(
    make: Callable[[list[Row]], ImportedFunction], configs: Sequence[Row], calls: Mapping[str, tuple[Any, ...]]
) -> Iterator[Case]:
    """Cases for cases() of a file that `kernpack bench --json` measures, so that import_triton(configs=) can choose from the result.

    make: makes the function with the configurations that it is given: lambda configs: import_triton(kernel, ..., configs=configs).
    configs: rows to measure, without "when".
    calls: for each condition the arguments of a call that stands for it: {"N <= 256": (x,), "": (y,)}. "" is always.

    A row with which the call fails, such as one with too much shared memory, is left out and named on the standard error stream.
    """
    for i, row in enumerate(configs):
        if "when" in row:
            raise ValueError(f"config_cases: configs[{i}]: 'when' comes from calls; leave it out")
    functions = [make([row]) for row in configs]
    for when, arguments in calls.items():
        if not isinstance(arguments, tuple):
            raise TypeError(
                f"config_cases: calls[{when!r}]: expected a tuple of arguments, got {type(arguments).__name__}"
            )
        for row, made in zip(configs, functions, strict=True):
            function = build_imported(made, f"{made.name}_measured").functions[made.name].callable
            case = json.dumps({**({"when": when} if when else {}), **row})
            try:
                function(*arguments)
            except (ValueError, RuntimeError, MemoryError) as error:
                print(f"{case}: left out: {error}", file=sys.stderr)
                continue
            yield case, function, None, arguments


def read_measured(path: str | os.PathLike[str], who: str) -> list[Row]:
    """The fastest row for each condition, in the order of the file. ValueError for a file that isn't of `kernpack bench --json`."""
    where = f"{who}: configs: {os.fspath(path)}"
    try:
        measured = json.loads(Path(path).read_text(encoding="utf-8"))
        cases = [(json.loads(one["case"]), float(one["median"])) for one in measured]
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(
            f"{where}: expected what `kernpack bench --json` prints of config_cases(), got something else "
            f"({type(error).__name__}: {error})"
        ) from None
    fastest: dict[str, tuple[Row, float]] = {}
    for row, seconds in cases:
        if not isinstance(row, dict) or not isinstance(row.get("when", ""), str):
            raise ValueError(f"{where}: expected cases that are rows of configs=, got {row!r}")
        when = row.get("when", "")
        if when not in fastest or seconds < fastest[when][1]:
            fastest[when] = (row, seconds)
    if not fastest:
        raise ValueError(f"{where}: expected at least one measured row, got none")
    return [row for row, _ in fastest.values()]
