"""Blocks that wait for each other: clusters, and cooperative launches of a whole grid, as cooperative_groups writes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.emulated import need_nvcc, run_lines

SCRIPT = Path(__file__).with_name("call_clusters.py")


@pytest.fixture(autouse=True)
def toolkit(tmp_path: Path) -> None:
    need_nvcc(tmp_path, "cooperative_groups.h", "cooperative groups", "nvidia-cuda-runtime")


@pytest.mark.parametrize("seed", [0, 7])
def test_blocks_exchange_values_by_shared_memory_and_by_a_barrier_of_the_grid(seed: int) -> None:
    """Warps in order, and shuffled."""
    assert run_lines(SCRIPT, "right", seed=seed) == ["right"] * 5


def test_a_launch_that_no_device_could_take_is_refused() -> None:
    """16 blocks without the kernel's consent, 16 in clusters of 3, a grid of which not all fit on the device at once."""
    large, uneven, grid = run_lines(SCRIPT, "refused")
    assert "cudaErrorInvalidClusterSize" in large
    assert "cudaErrorInvalidClusterSize" in uneven
    assert "cudaErrorCooperativeLaunchTooLarge" in grid


def test_a_barrier_of_the_grid_traps_in_an_ordinary_launch() -> None:
    assert "trap was reached" in run_lines(SCRIPT, "not_together")[0]


def test_a_block_that_ends_while_its_memory_is_read_is_named() -> None:
    (said,) = run_lines(SCRIPT, "next_ends")
    assert "in the shared memory of block (1, 0, 0), which has ended" in said
