"""The report on the terminal."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any, TextIO

from kernpack_sdk.testing.case import Result

_SIGNS = {"passed": ".", "failed": "F", "skipped": "s", "allowed": "a"}


class Progress:
    """One sign for each check, a line for each op; nothing unless someone looks on."""

    def __init__(self, stream: TextIO, shown: bool) -> None:
        self._stream = stream
        self._shown = shown
        self._op = ""

    def __call__(self, result: Result) -> None:
        if not self._shown:
            return
        if result.op != self._op:
            self._stream.write(f"\n{result.op} " if self._op else f"{result.op} ")
            self._op = result.op
        self._stream.write(_SIGNS[result.status])
        self._stream.flush()

    def end(self) -> None:
        if self._shown and self._op:
            self._stream.write("\n")


def summary(facts: dict[str, Any], results: Sequence[Result], seconds: float) -> str:
    """ "my_kernels 1.0.0: 3 functions, 84 checks passed, 2 failed, 10 skipped; 1,204 calls in 12.3 s"."""
    counts = Counter(result.status for result in results)
    words = [f"{counts['passed']} checks passed", f"{counts['failed']} failed"]
    words += [f"{counts[status]} {status}" for status in ("allowed", "skipped") if counts[status]]
    functions = len({result.op for result in results})
    calls = sum(result.calls for result in results)
    return (
        f"{facts['module']} {facts['version']}: {functions} function{'s' * (functions != 1)}, {', '.join(words)}; "
        f"{calls:,} calls in {seconds:.1f} s"
    )


def write(stream: TextIO, facts: dict[str, Any], results: Sequence[Result], seconds: float, verbose: bool) -> None:
    for result in results:
        if result.status in ("failed", "allowed"):
            for each in result.findings:
                mark = f" (--seed {result.seed})" if result.seed else ""
                mark += "" if result.status == "failed" else f" (allowed: {result.reason})"
                stream.write(f"\n{result.op}: {result.check}{mark}\n")
                for words in (each.text, each.call, each.advice):
                    if words:
                        stream.write(textwrap.fill(words, 118, initial_indent="  ", subsequent_indent="  ") + "\n")
    reasons: dict[str, list[str]] = {}
    for result in results:
        if result.status == "skipped":
            reasons.setdefault(result.reason, []).append(f"{result.op}: {result.check}")
    if reasons:
        stream.write("\nskipped:\n")
        for reason, where in reasons.items():
            shown = where if verbose else where[:1]
            more = f" and {len(where) - 1} more" if len(where) > len(shown) else ""
            stream.write(f"  {reason} ({', '.join(shown)}{more})\n")
    stream.write(f"\n{summary(facts, results, seconds)}\n")


def looks_on() -> bool:
    return sys.stderr.isatty()
