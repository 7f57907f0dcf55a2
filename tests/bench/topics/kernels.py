"""The first-party kernels against PyTorch's CPU ops; measured by kernels_vs_torch.py."""

from __future__ import annotations

import importlib

from kit import Kit
from report import Row

GOAL = 1.0


def measure(kit: Kit) -> list[Row]:
    compare = importlib.import_module("kernels_vs_torch").compare
    return [
        Row("kernels", name, ours / 1e3, theirs / 1e3, unit="us", goal=GOAL, peer="torch CPU op")
        for name, ours, theirs in compare(kit.repetitions)
    ]
