"""Copies and launches on opencl:0 against plain OpenCL calls on the same device."""

from __future__ import annotations

from kit import Kit
from report import Row

import build

SIZES = {"4 KiB": 4 << 10, "1 MiB": 1 << 20, "64 MiB": 64 << 20}
GOAL_COPY = 1 / 0.95  # of time, for 0.95 of the bandwidth
GOAL_LAUNCH = 1.15


def measure(kit: Kit) -> list[Row]:
    import kernpack

    if not kernpack.devices("opencl"):
        raise RuntimeError("there is no OpenCL device; kernpack.info() tells why")
    source = build.HERE / "ours" / "opencl_bench.cc"
    compile_flags, link_flags = kit.ours_flags
    module = kernpack.load(str(build.shared_object(source, "opencl_bench", (compile_flags, [*link_flags, "-ldl"]))))
    turns = max(5, kit.repetitions // 4)

    def best(function, *args) -> tuple[float, float]:
        ours, theirs = [], []
        for _ in range(turns):
            ours.append(function(True, *args))
            theirs.append(function(False, *args))
        return min(ours), min(theirs)

    rows = []
    for label, size in SIZES.items():
        rounds = 5 if size > 1 << 20 else 100
        for direction, to_device in (("host to device", True), ("device to host", False)):
            ours, theirs = best(module.copy, to_device, size, rounds)
            rows.append(
                Row("opencl", f"copy of {label}, {direction}", ours, theirs, goal=GOAL_COPY, peer="plain OpenCL")
            )
    ours, theirs = best(module.launch, 20)
    rows.append(
        Row("opencl", "launch of a kernel, waited for every 100", ours, theirs, goal=GOAL_LAUNCH, peer="plain OpenCL")
    )
    return rows
