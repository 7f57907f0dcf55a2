"""Programs of tests/bench/cpp, written with Google Benchmark."""

from __future__ import annotations

import json
import subprocess

from kit import Kit

import build


def best(kit: Kit, program: str, time: str) -> dict[str, float]:
    """The shortest time of each benchmark, in its own unit; `time` is "real_time" or "cpu_time"."""
    command = [str(build.cpp_program(program)), "--benchmark_format=json"]
    command += ["--benchmark_min_time=0.05", f"--benchmark_repetitions={max(3, kit.repetitions // 12)}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    times: dict[str, float] = {}
    for run in json.loads(done.stdout)["benchmarks"]:
        if run["run_type"] == "iteration":
            name = run["run_name"]
            times[name] = min(times.get(name, run[time]), run[time])
    return times
