"""libcu++'s barriers and pipelines: right, and no finding of the emulated device is a false one."""

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
    """nvcc with libcu++'s headers."""
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc: install NVIDIA's CUDA toolkit, or nvidia-cuda-nvcc from PyPI")
    source = tmp_path_factory.mktemp("libcudacxx") / "version.cu"
    source.write_text("#include <cuda/std/version>\n")
    if subprocess.run([nvcc, "-M", source], capture_output=True, check=False).returncode != 0:
        pytest.skip("nvcc has no libcu++: install NVIDIA's CUDA toolkit, or nvidia-cuda-cccl from PyPI")


@pytest.mark.parametrize("arch", ["80", "90"])
@pytest.mark.parametrize("seed", [0, 7])
def test_barriers_and_pipelines_are_right_and_raise_no_alarm(toolkit: None, arch: str, seed: int) -> None:
    """cp.async for 8.0, cp.async.bulk for 9.0; warps in order, and shuffled."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KERNPACK_EMULATOR")}
    done = subprocess.run(
        [sys.executable, HERE / "call_barriers.py", arch],
        env={**kept, "KERNPACK_EMULATOR": "sm_90", "KERNPACK_EMULATOR_SEED": str(seed)},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines() == ["right"] * 2
