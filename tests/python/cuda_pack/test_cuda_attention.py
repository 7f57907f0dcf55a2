"""The attention kernels of kernpack-kernels-cuda on the emulated device, which looks for races and stray accesses: against float64,
in each order of sums that mma may have, with warps in order and shuffled."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import kernpack
import pytest

CASES = Path(__file__).with_name("attention_cases.py")
PACK = os.environ.get("KERNPACK_CUDA_PACK", "kernpack_kernels_cuda")


@pytest.fixture(scope="session", autouse=True)
def pack() -> None:
    if importlib.util.find_spec(PACK) is None:
        pytest.skip(f"{PACK} isn't installed")
    folder = Path(kernpack.__file__).parent
    if not any(
        (place / "libkernpack_cuda_emulator.so").is_file() for place in (folder, folder.parent / "kernpack_compiler")
    ):
        pytest.skip("libkernpack_cuda_emulator.so isn't installed")


def _cases(*arguments: str, mma_order: int = 0, seed: int = 0) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KERNPACK_EMULATOR")}
    kept |= {"KERNPACK_EMULATOR": "sm_90,sm_80", "KERNPACK_EMULATOR_SETTINGS": f"mma_order={mma_order}"}
    done = subprocess.run(
        [sys.executable, CASES, PACK, *arguments],
        env=kept | {"KERNPACK_EMULATOR_SEED": str(seed)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("cases agree\n")
    assert not done.stdout.startswith("0 ")


@pytest.mark.parametrize("mma_order", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_tensor_cores_agree_with_the_reference_in_every_order_of_sums(dtype: str, mma_order: int) -> None:
    _cases("borders", dtype, mma_order=mma_order, seed=mma_order * 17)


def test_f32_agrees_with_the_reference() -> None:
    _cases("borders", "f32", seed=5)
