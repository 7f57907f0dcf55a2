"""How long planning takes by the number of calls, and whether it is linear (tests/bench/cpp/plan_bench.cc)."""

from __future__ import annotations

import google_benchmark
from kit import Kit
from report import Row


def measure(kit: Kit) -> list[Row]:
    rows = []
    for name, milliseconds in google_benchmark.best(kit, "plan_bench", "cpu_time").items():
        _, shape, calls = name.split("/")
        each = milliseconds * 1e3 / int(calls)
        rows.append(Row("plans", f"{shape} of {int(calls):,} calls, microseconds a call", each, None, unit="us"))
    return rows
