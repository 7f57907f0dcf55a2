"""The pack of CUDA kernels, built once, and its cases in processes of their own, with an emulated device.

KERNPACK_CUDA_PACK=CPU.so:CUDA.so: those files on this machine's GPU instead, as tests/device/run.sh asks for."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import kernpack_sdk
import pytest
from filelock import FileLock
from support import forked
from support.emulated import without_emulator

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).parent
ON_GPU = os.environ.get("KERNPACK_CUDA_PACK")


def _run(*command: str | Path) -> str:
    done = subprocess.run(command, env=without_emulator(), capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return done.stdout


def _of_all_workers(factory: pytest.TempPathFactory) -> Path:
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the pack has been built: PTX, which the emulated device runs, and machine code for sm_90, so that
    ptxas.log says what its registers are."""
    if shutil.which("nvcc") is None:
        pytest.skip("no nvcc: install NVIDIA's CUDA toolkit, or nvidia-cuda-nvcc from PyPI")
    build = _of_all_workers(tmp_path_factory) / "cuda-pack"
    options = (f"-Dkernpack_DIR={kernpack_sdk.cmake_dir()}", f"-DPython_EXECUTABLE={sys.executable}")
    code = ("-DKERNPACK_CUDA_CODE=arch=compute_80,code=[compute_80,sm_90]", "-DKERNPACK_CUDA_FLAGS=-Xptxas=-v")
    with FileLock(f"{build}.lock"):  # the second worker finds nothing left to build
        log = build / "ptxas.log"
        if not log.exists():
            _run("cmake", "-S", ROOT / "kernels" / "cuda", "-B", build, "-G", "Ninja", *code, *options)
            log.write_text(_run("cmake", "--build", build))
    return build


@pytest.fixture(scope="session")
def files(request: pytest.FixtureRequest) -> str:
    """The kernels for both devices."""
    if ON_GPU:
        return ON_GPU
    pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
    spec = importlib.util.find_spec("kernpack_kernels")
    if spec is None or spec.origin is None:
        pytest.skip("the wheel kernpack-kernels is not installed")
    pack = request.getfixturevalue("pack")
    paths = Path(spec.origin).with_name("kernpack_kernels.so"), pack / "kernpack_kernels_cuda.so"
    return os.pathsep.join(map(str, paths))


@pytest.fixture
def cases(files: str, tmp_path: Path) -> Callable[..., None]:
    """Runs groups of cases of a file here: each says how many agreed. `others`: variables of the environment."""

    def run(script: str, *groups: str, mma_order: int = 3, seed: int = 0, **others: str) -> None:
        places = [str(ROOT / "tests"), str(ROOT / "tests" / "python" / "kernels")]
        emulated = {
            "KERNPACK_EMULATOR": "sm_90,sm_80",
            "KERNPACK_EMULATOR_SETTINGS": f"mma_order={mma_order}",
            "KERNPACK_EMULATOR_SEED": str(seed),
        }
        variables = without_emulator() | ({} if ON_GPU else emulated) | others
        printed = forked.run(HERE / script, [files, *groups], variables, places, tmp_path)
        # On a GPU, an assertion that fails prints a line of its own.
        lines = (line.split() for line in printed.splitlines())
        counted = [words for words in lines if len(words) == 2 and words[0] in groups]
        assert [group for group, _ in counted] == list(groups)
        assert all(int(count) > 0 for _, count in counted)

    return run
