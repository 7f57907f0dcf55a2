"""The measurements of a section: pairs of the same work, ours and a peer's, which take turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from goals import Goal, goal_here
from harness import interleave_runs
from report import Row, timed_row

Work = Callable[[], object]
SECONDS = 0.8  # of one candidate, and between 5 and 400 runs


@dataclass(frozen=True)
class Pair:
    name: str
    ours: Work
    theirs: Work
    goal: Goal | None = None
    peer: str = "torch"


def make_rows(section: str, pairs: Iterable[Pair]) -> list[Row]:
    return [_row(section, pair) for pair in pairs]


def _row(section: str, pair: Pair) -> Row:
    pair.ours()
    pair.theirs()
    start = time.perf_counter()
    pair.ours()
    pair.theirs()
    repetitions = min(400, max(5, int(2 * SECONDS / (time.perf_counter() - start))))
    timings = interleave_runs({"ours": pair.ours, "theirs": pair.theirs}, repetitions)
    return timed_row(f"llm {section}", pair.name, timings, goal_here(pair.goal), peer=pair.peer)
