"""The attention kernels of kernpack-kernels-cuda on the emulated device, which looks for races and stray accesses: against float64,
in each order of sums that mma may have, with warps in order and shuffled."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import kernpack
import kernpack_sdk
import pytest

ROOT = Path(__file__).resolve().parents[3]
CASES = Path(__file__).with_name("attention_cases.py")


def _run(*command: str | Path, **variables: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KERNPACK_EMULATOR")}
    done = subprocess.run(command, env={**kept, **variables}, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The kernels for both devices. The pack is built here, of PTX alone, which is what the emulated device runs."""
    folder = Path(kernpack.__file__).parent
    beside = (folder, folder.parent / "kernpack_compiler")
    if not any((place / "libkernpack_cuda_emulator.so").is_file() for place in beside):
        pytest.skip("libkernpack_cuda_emulator.so isn't installed")
    spec = importlib.util.find_spec("kernpack_kernels")
    if spec is None or spec.origin is None:
        pytest.skip("the wheel kernpack-kernels is not installed")
    if shutil.which("nvcc") is None:
        pytest.skip("no nvcc")
    build = tmp_path_factory.mktemp("pack")
    options = (f"-Dkernpack_DIR={kernpack_sdk.cmake_dir()}", f"-DPython_EXECUTABLE={sys.executable}")
    code = "-DKERNPACK_CUDA_CODE=arch=compute_80,code=compute_80"
    _run("cmake", "-S", ROOT / "kernels" / "cuda", "-B", build, "-G", "Ninja", code, *options)
    _run("cmake", "--build", build)
    paths = Path(spec.origin).with_name("kernpack_kernels.so"), build / "kernpack_kernels_cuda.so"
    return os.pathsep.join(map(str, paths))


def _cases(files: str, *groups: str, mma_order: int = 0, seed: int = 0) -> None:
    places = [str(ROOT / "tests"), str(ROOT / "tests" / "python" / "kernels"), os.environ.get("PYTHONPATH", "")]
    printed = _run(
        *(sys.executable, CASES, files, *groups),
        PYTHONPATH=os.pathsep.join(places),
        KERNPACK_EMULATOR="sm_90,sm_80",
        KERNPACK_EMULATOR_SETTINGS=f"mma_order={mma_order}",
        KERNPACK_EMULATOR_SEED=str(seed),
    )
    counted = [line.split() for line in printed.splitlines()]
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
def test_attention_agrees_with_the_reference_in_every_order_of_sums(
    files: str, mma_order: int, others: tuple[str, ...]
) -> None:
    _cases(files, *BORDERS, *others, mma_order=mma_order, seed=mma_order * 17)


def test_attention_beside_pages_agrees_with_the_reference(files: str) -> None:
    _cases(files, "paged:f32", "paged:f16", "paged:bf16", "paged:i8", "alone:f16", seed=9)


def test_pages_that_do_not_exist_are_not_read(files: str) -> None:
    _cases(files, "outside:f16", "outside:i8")


def test_the_same_op_runs_where_its_arguments_are(files: str) -> None:
    _cases(files, "both")


def test_refusals_say_what_was_expected(files: str) -> None:
    _cases(files, "refusals")
