"""Blocks that wait for each other: clusters, and cooperative launches of a whole grid, as cooperative_groups writes them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(
    shutil.which("nvcc") is None, reason="no nvcc: install NVIDIA's CUDA toolkit, or nvidia-cuda-nvcc from PyPI"
)


@pytest.fixture(autouse=True)
def emulator() -> None:
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")


def lines(name: str, seed: int = 0) -> list[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KERNPACK_EMULATOR")}
    done = subprocess.run(
        [sys.executable, HERE / "call_clusters.py", name],
        env={**kept, "KERNPACK_EMULATOR": "sm_90", "KERNPACK_EMULATOR_SEED": str(seed)},
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.mark.parametrize("seed", [0, 7])
def test_blocks_exchange_values_by_shared_memory_and_by_a_barrier_of_the_grid(seed: int) -> None:
    """Warps in order, and shuffled."""
    assert lines("right", seed) == ["right"] * 5


def test_a_launch_that_no_device_could_take_is_refused() -> None:
    """16 blocks without the kernel's consent, 16 in clusters of 3, a grid of which not all fit on the device at once."""
    large, uneven, grid = lines("refused")
    assert "cudaErrorInvalidClusterSize" in large
    assert "cudaErrorInvalidClusterSize" in uneven
    assert "cudaErrorCooperativeLaunchTooLarge" in grid


def test_a_barrier_of_the_grid_traps_in_an_ordinary_launch() -> None:
    assert "trap was reached" in lines("not_together")[0]


def test_a_block_that_ends_while_its_memory_is_read_is_named() -> None:
    (said,) = lines("next_ends")
    assert "in the shared memory of block (1, 0, 0), which has ended" in said
