"""Memory after a million calls with array attributes, in each framework."""

from __future__ import annotations

import subprocess
import sys

from kit import Kit
from report import Row

import build

CALLS = 1_000_000


def measure(kit: Kit) -> list[Row]:
    calls = CALLS if kit.repetitions >= 60 else CALLS // 5
    return [_row(framework, calls) for framework in ("torch", "jax")]


def _row(framework: str, calls: int) -> Row:
    """Whole bytes a call: what is left after the first calls, in a process of its own."""
    worker = build.ROOT / "tests" / "support" / "growth.py"
    done = subprocess.run(
        [sys.executable, str(worker), framework, str(calls)], capture_output=True, text=True, check=True
    )
    grown = int(done.stdout)
    return Row(
        "growth",
        f"memory growth, array attributes, {framework}",
        float(max(0, grown) * 1024 // calls),
        None,
        unit="B a call",
        goal=0.0,
        note=f"{grown} KiB after {calls:,} calls",
    )
