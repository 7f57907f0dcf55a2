"""Kernels of the toolkit's CUB: right, and no finding of the emulated device is a false one."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.emulated import need_nvcc, run_lines

SCRIPT = Path(__file__).with_name("call_cub.py")


@pytest.mark.parametrize("seed", [0, 7])
def test_reductions_scans_and_sorts_of_cub_are_right_and_raise_no_alarm(tmp_path: Path, seed: int) -> None:
    """Warps in order, and shuffled."""
    need_nvcc(tmp_path, "cub/version.cuh", "CUB", "nvidia-cuda-cccl")
    assert len(run_lines(SCRIPT, devices="sm_90,sm_80", seed=seed)) == 8
