"""Timing of short calls: all candidates of one comparison take turns, so that a busy machine disturbs them alike.

Figures are nanoseconds a call, with the cost of the timing loop itself (one candidate named "empty loop" measures it).
"""

from __future__ import annotations

import gc
import statistics
import time
import timeit
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

TARGET_BATCH_S = 0.004


@dataclass
class Timing:
    """Repetitions of one candidate, in nanoseconds a call."""

    samples: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.samples)

    @property
    def median(self) -> float:
        return statistics.median(self.samples)


@dataclass(frozen=True)
class Snippet:
    """A statement to time and the names it uses; `number` fixes the calls in one batch, else it is calibrated."""

    statement: str
    names: Mapping[str, object]
    number: int = 0

    def timer(self) -> timeit.Timer:
        return timeit.Timer(self.statement, globals=dict(self.names))


def interleave(candidates: Mapping[str, Snippet], repetitions: int = 60) -> dict[str, Timing]:
    """Times each candidate `repetitions` times in turn, after one warm-up batch."""
    timers = {name: snippet.timer() for name, snippet in candidates.items()}
    numbers = {name: candidates[name].number or _calibrate(timer) for name, timer in timers.items()}
    timings = {name: Timing() for name in candidates}
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(repetitions):
            for name, timer in timers.items():
                timings[name].samples.append(timer.timeit(numbers[name]) / numbers[name] * 1e9)
    finally:
        if collecting:
            gc.enable()
    return timings


def interleave_runs(
    candidates: Mapping[str, Callable[[], object]], repetitions: int = 5, pause_s: float = 0
) -> dict[str, Timing]:
    """As `interleave`, for slow actions: one run is one sample, after a pause in which the last one's threads come to
    rest."""
    timings = {name: Timing() for name in candidates}
    for _ in range(repetitions):
        for name, action in candidates.items():
            time.sleep(pause_s)
            start = time.perf_counter_ns()
            action()
            timings[name].samples.append(time.perf_counter_ns() - start)
    return timings


def _calibrate(timer: timeit.Timer) -> int:
    timer.timeit(10)  # what the first call alone pays must not look like its price
    number = 1
    while True:
        elapsed = timer.timeit(number)
        if elapsed >= TARGET_BATCH_S / 2:
            return max(1, int(number * TARGET_BATCH_S / elapsed))
        number *= 4
