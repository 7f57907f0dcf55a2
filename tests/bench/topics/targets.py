"""How long a target takes from text to its canonical form, in the C++ library (tests/bench/cpp/target_bench.cc)."""

from __future__ import annotations

import json
import subprocess

from kit import Kit
from report import Row

import build


def measure(kit: Kit) -> list[Row]:
    command = [str(build.cpp_program("target_bench")), "--benchmark_format=json"]
    command += ["--benchmark_min_time=0.05", f"--benchmark_repetitions={max(3, kit.repetitions // 12)}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    best: dict[str, float] = {}
    for run in json.loads(done.stdout)["benchmarks"]:
        if run["run_type"] == "iteration":
            name = run["run_name"]
            best[name] = min(best.get(name, run["real_time"]), run["real_time"])
    return [
        Row("targets", f"{name.split('/')[1]}, from text to a Target", time, None, unit="us")
        for name, time in best.items()
    ]
