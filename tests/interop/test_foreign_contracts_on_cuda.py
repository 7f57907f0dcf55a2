"""Contracts for CUDA functions of a module that is built with apache-tvm-ffi's SDK, on emulated devices."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from support.emulated import run_emulated
from support.interop import SOURCES

emulator = pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
nvcc = shutil.which("nvcc")
pytestmark = pytest.mark.skipif(
    nvcc is None, reason="no nvcc: install NVIDIA's CUDA toolkit, or nvidia-cuda-nvcc from PyPI"
)
CONTRACTS = """
[scale]
contract = '(x: f32[...], *, k: float = 2.0) -> (y: f32[...]) with on "cuda"'
calls = "scale_f32"
grad = "scale_backward"

[scale_backward]
contract = '(d_y: f32[...], *, k: float = 2.0) -> (d_x: f32[...]) with on "cuda"'
calls = "scale_f32"

[row_sums]
contract = '(x: f32[R, C]) -> (sums: f32[R]) with on "cuda"'
args = ["sums", "x", "C"]
"""


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The output of the program."""
    from tvm_ffi import libinfo

    folder = tmp_path_factory.mktemp("foreign_cuda")
    library = folder / "peer_cuda.so"
    command = [
        nvcc, "-O2", "-std=c++17", "-arch=compute_80", "-shared", "-Xcompiler=-fPIC", SOURCES / "peer_cuda.cu", "-o", library,
        "-I", libinfo.find_include_path(), "-I", libinfo.find_dlpack_include_path(),
        "-L", Path(libinfo.find_libtvm_ffi()).parent, "-ltvm_ffi", "-cudart", "none", emulator.LIBRARY,
    ]  # fmt: skip
    built = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (folder / "ops.toml").write_text(CONTRACTS)
    program = Path(__file__).with_name("foreign_cuda.py")
    done = run_emulated(program, str(library), str(folder / "ops.toml"), devices="sm_90,sm_80")
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def test_results_are_made_on_the_device_and_in_the_order_of_the_stream(lines: list[str]) -> None:
    assert lines[0] == "equal"


def test_arguments_are_checked_before_the_function_runs(lines: list[str]) -> None:
    cpu, positional, dtype, _, many = lines[1:]
    assert cpu == "ValueError scale: expected tensors on cuda, got cpu: the function runs on cuda only"
    assert positional.startswith("TypeError scale() takes 1 positional argument")
    assert dtype.startswith("TypeError scale: x: expected dtype f32, got f64")
    assert many.startswith("TypeError scale() takes 1 positional argument")
