"""The size of the kernel wheel, where `make wheels` has built it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from report import Row

LIMIT_KIB = 3 * 1024


def measure(k: Any, threads: int) -> list[Row]:
    wheels = Path(__file__).resolve().parents[4].glob("dist/kernpack_kernels-*.whl")
    return [Row("llm wheel", each.name, each.stat().st_size / 1024, None, "KiB", LIMIT_KIB) for each in wheels]
