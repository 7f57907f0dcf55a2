"""libcu++'s barriers and pipelines: right, and no finding of the emulated device is a false one."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.emulated import need_nvcc, run_lines

SCRIPT = Path(__file__).with_name("call_barriers.py")


@pytest.mark.parametrize("arch", ["80", "90"])
@pytest.mark.parametrize("seed", [0, 7])
def test_barriers_and_pipelines_are_right_and_raise_no_alarm(tmp_path: Path, arch: str, seed: int) -> None:
    """cp.async for 8.0, cp.async.bulk for 9.0; warps in order, and shuffled."""
    need_nvcc(tmp_path, "cuda/std/version", "libcu++", "nvidia-cuda-cccl")
    assert run_lines(SCRIPT, arch, seed=seed) == ["right"] * 2
