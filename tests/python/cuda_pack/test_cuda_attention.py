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

TESTS = Path(__file__).resolve().parents[2]
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


def _cases(*groups: str, mma_order: int = 0, seed: int = 0) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KERNPACK_EMULATOR")}
    kept |= {"KERNPACK_EMULATOR": "sm_90,sm_80", "KERNPACK_EMULATOR_SETTINGS": f"mma_order={mma_order}"}
    kept["PYTHONPATH"] = os.pathsep.join([str(TESTS), str(TESTS / "python" / "kernels"), kept.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, CASES, PACK, *groups],
        env=kept | {"KERNPACK_EMULATOR_SEED": str(seed)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    counted = [line.split() for line in done.stdout.splitlines()]
    assert [group for group, _ in counted] == list(groups)
    assert all(int(count) > 0 for _, count in counted)


BORDERS = ("borders:f16", "borders:bf16")


@pytest.mark.parametrize(
    ("mma_order", "others"),
    [
        (0, ("layouts:f32", "layouts:f16", "layouts:bf16", "borders:f32")),
        (
            1,
            (
                "lengths:f32",
                "lengths:f16",
                "lengths:bf16",
                "empty:f32",
                "empty:f16",
                "sums:f32",
                "sums:f16",
                "sums:bf16",
            ),
        ),
        (2, ("masks:f32", "masks:f16", "masks:bf16")),
    ],
)
def test_attention_agrees_with_the_reference_in_every_order_of_sums(mma_order: int, others: tuple[str, ...]) -> None:
    _cases(*BORDERS, *others, mma_order=mma_order, seed=mma_order * 17)


def test_attention_beside_pages_agrees_with_the_reference() -> None:
    _cases("paged:f32", "paged:f16", "paged:bf16", "paged:i8", seed=9)


def test_pages_that_do_not_exist_are_not_read() -> None:
    _cases("outside:f16", "outside:i8")


def test_refusals_say_what_was_expected() -> None:
    _cases("refusals")
