"""The cost of a profile per call: batches outside and inside of `kernpack.profile()` in turns."""

from __future__ import annotations

import timeit
from collections.abc import Callable

import numpy as np
from kit import Kit
from report import Row

GOAL = 100.0  # nanoseconds per call, of docs/profiling.md
CALLS = 5_000


def measure(kit: Kit) -> list[Row]:
    import kernpack

    k = kernpack.load("kernpack_kernels")
    add = kernpack.load_inline("void none() {}", {"none": "() -> ()"}, name="bench_profile").none
    x, weight = np.ones((4, 64), np.float32), np.ones(64, np.float32)
    calls: dict[str, Callable[[], object]] = {"no arguments": add, "rms_norm f32 4x64": lambda: k.rms_norm(x, weight)}
    rows = []
    for name, call in calls.items():
        off, on = [], []
        for _ in range(kit.repetitions):
            off.append(timeit.timeit(call, number=CALLS))
            with kernpack.profile(max_events=0):
                on.append(timeit.timeit(call, number=CALLS))
        added = (min(on) - min(off)) / CALLS * 1e9
        rows.append(Row("profile", f"{name}: added per call", added, None, goal=GOAL, peer=""))
    return rows
