"""How many bytes the kernels of kernpack-kernels-cuda move: no more than their budgets, counted by the emulated device."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest


@pytest.mark.skipif("KERNPACK_CUDA_PACK" in os.environ, reason="a GPU doesn't count what kernels move")
def test_no_kernel_moves_more_than_its_budget(cases: Callable[..., None]) -> None:
    cases("traffic_cases.py", "traffic")
