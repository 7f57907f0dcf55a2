"""Scripts that run on an emulated device, and what kernels that nvcc compiles for it need."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def without_emulator() -> dict[str, str]:
    """This process's environment without what chooses an emulated device."""
    return {name: value for name, value in os.environ.items() if not name.startswith("KERNPACK_EMULATOR")}


def run_emulated(
    script: Path, *words: str, devices: str = "sm_90", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the script with `devices` in a process of its own: KERNPACK_EMULATOR counts when the CUDA backend is opened."""
    return subprocess.run(
        [sys.executable, script, *words],
        env={**without_emulator(), "KERNPACK_EMULATOR": devices, **variables},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def run_lines(script: Path, *words: str, devices: str = "sm_90", seed: int = 0) -> list[str]:
    """The output of a script that must not fail, and has no race. `seed` shuffles warps, 0 runs them in order."""
    variables = {"KERNPACK_EMULATOR_SEED": str(seed), "KERNPACK_EMULATOR_SETTINGS": "global_races=1"}
    done = run_emulated(script, *words, devices=devices, **variables)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def need_nvcc(folder: Path, header: str, library: str, package: str) -> None:
    """Skip the test unless the emulator is installed, and nvcc with that header of NVIDIA's."""
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc: install NVIDIA's CUDA toolkit, or nvidia-cuda-nvcc from PyPI")
    source = folder / "header.cu"
    source.write_text(f"#include <{header}>\n")
    if subprocess.run([nvcc, "-M", source], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"nvcc has no {library}: install NVIDIA's CUDA toolkit, or {package} from PyPI")
