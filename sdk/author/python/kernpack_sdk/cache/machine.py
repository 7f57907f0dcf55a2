"""The meaning of -march=native and -arch=native. Always part of a key: a wrapper may add them, and a cache may be shared."""

from __future__ import annotations

import functools
import platform
from pathlib import Path

# Lines of /proc/cpuinfo that differ from moment to moment, or from core to core.
_CHANGING = (
    "processor",
    "cpu mhz",
    "bogomips",
    "core id",
    "physical id",
    "apicid",
    "initial apicid",
    "siblings",
    "cpu cores",
)


@functools.cache
def processor() -> str:
    """The model and the features of the processor, sizes of its caches included."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            first = file.read(1 << 15).split("\n\n", 1)[0]
    except OSError:
        return platform.machine()
    rows = [line for line in first.splitlines() if line.partition(":")[0].strip().lower() not in _CHANGING]
    return "\n".join([platform.machine(), *rows])


@functools.cache
def gpus() -> str:
    """The models of NVIDIA's devices, as their driver lists them."""
    models = set()
    for file in Path("/proc/driver/nvidia/gpus").glob("*/information"):
        text = file.read_text(encoding="utf-8", errors="replace")
        models |= {line for line in text.splitlines() if line.startswith("Model")}
    return "\n".join(sorted(models))
