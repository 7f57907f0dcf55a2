"""How long planning takes by the number of calls, and whether it is linear (tests/bench/cpp/plan_bench.cc)."""

from __future__ import annotations

import json
import subprocess

from kit import Kit
from report import Row

import build


def measure(kit: Kit) -> list[Row]:
    command = [str(build.cpp_program("plan_bench")), "--benchmark_format=json"]
    command += ["--benchmark_min_time=0.05", f"--benchmark_repetitions={max(3, kit.repetitions // 12)}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    best: dict[str, float] = {}
    for run in json.loads(done.stdout)["benchmarks"]:
        if run["run_type"] == "iteration":
            name = run["run_name"]
            best[name] = min(best.get(name, run["cpu_time"]), run["cpu_time"])
    rows = []
    for name, milliseconds in best.items():
        _, shape, calls = name.split("/")
        each = milliseconds * 1e3 / int(calls)
        rows.append(Row("plans", f"{shape} of {int(calls):,} calls, microseconds a call", each, None, unit="us"))
    return rows
