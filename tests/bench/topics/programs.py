"""Running plans (tests/bench/cpp/executable_bench.cc): time beside the same calls by hand, memory, overlap of streams."""

from __future__ import annotations

import json
import subprocess

from kit import Kit
from report import Row

import build

GOAL_CALL = 1.2


def measure(kit: Kit) -> list[Row]:
    done = subprocess.run([str(build.cpp_program("executable_bench"))], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    rows = []
    for size in (1, 1024):
        ours, theirs = (seconds * 1e9 for seconds in found[f"overhead_{size}"])
        name = f"a call of a planned run, adding {size}"
        rows.append(Row("programs", name, ours, theirs, goal=GOAL_CALL, peer="kp_call into tensors made before"))
    peak, values = found["memory"]
    rows.append(
        Row(
            "programs",
            "most memory of 12 residual layers",
            peak / 1024,
            values / 1024,
            unit="KiB",
            peer="sum of values",
        )
    )
    if "streams" in found:
        two, by_hand, one = (seconds * 1e3 for seconds in found["streams"])
        note = f"{one / two:.2f} times as fast as on one stream, by hand {one / by_hand:.2f} times; ideal 2"
        name = "two chains on two streams of opencl:0"
        rows.append(Row("programs", name, two, by_hand, unit="ms", peer="the same by hand", note=note))
    else:
        print("programs: there is no OpenCL device, so no overlap of streams is measured")
    return rows
