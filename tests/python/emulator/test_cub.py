"""Kernels of the toolkit's CUB: right, and no finding of the emulated device is a false one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def toolkit(tmp_path_factory: pytest.TempPathFactory) -> None:
    """nvcc with CUB's headers."""
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc: install NVIDIA's CUDA toolkit, or nvidia-cuda-nvcc from PyPI")
    source = tmp_path_factory.mktemp("cub") / "version.cu"
    source.write_text("#include <cub/version.cuh>\n")
    if subprocess.run([nvcc, "-M", source], capture_output=True, check=False).returncode != 0:
        pytest.skip("nvcc has no CUB: install NVIDIA's CUDA toolkit, or nvidia-cuda-cccl from PyPI")


@pytest.mark.parametrize("seed", [0, 7])
def test_reductions_scans_and_sorts_of_cub_are_right_and_raise_no_alarm(toolkit: None, seed: int) -> None:
    """Warps in order, and shuffled."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KERNPACK_EMULATOR")}
    done = subprocess.run(
        [sys.executable, HERE / "call_cub.py"],
        env={**kept, "KERNPACK_EMULATOR": "sm_90,sm_80", "KERNPACK_EMULATOR_SEED": str(seed)},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert len(done.stdout.splitlines()) == 8
