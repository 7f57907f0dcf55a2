"""How long a target takes from text to its canonical form, in the C++ library (tests/bench/cpp/target_bench.cc)."""

from __future__ import annotations

import google_benchmark
from kit import Kit
from report import Row


def measure(kit: Kit) -> list[Row]:
    return [
        Row("targets", f"{name.split('/')[1]}, from text to a Target", time, None, unit="us")
        for name, time in google_benchmark.best(kit, "target_bench", "real_time").items()
    ]
