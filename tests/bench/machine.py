"""The machine of the figures."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from pathlib import Path

SETS = ("avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_int8", "amx_bf16")
PACKAGES = ("numpy", "torch", "jax", "jaxlib", "apache-tvm-ffi", "jax-tvm-ffi", "pybind11", "nanobind")


def describe() -> dict[str, object]:
    """CPU, its instruction sets, cores, load, interpreter and package versions."""
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "cpu": _fact("model name") or platform.machine(),
        "instruction_sets": instruction_sets(),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def instruction_sets() -> list[str]:
    """Those that kernels are written for and that the processor has."""
    flags = (_fact("flags") or _fact("Features") or "").split()
    return [name for name in SETS if name in flags]


def _fact(name: str) -> str | None:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.partition(":")[0].strip() == name:
            return line.partition(":")[2].strip()
    return None


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
