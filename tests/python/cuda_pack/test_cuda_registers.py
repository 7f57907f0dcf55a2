"""The report of ptxas about the kernels of kernels/cuda: none spills registers to memory where it matters."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACK = Path(__file__).resolve().parents[3] / "kernels" / "cuda"


def test_no_kernel_spills_registers(pack: Path) -> None:
    """For sm_90, of PTX for sm_80, and *_sm90.cu for sm_90a. Of every architecture's own code: `make wheels-cuda`."""
    command = [sys.executable, PACK / "resources.py", "--log", pack / "ptxas.log"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = [row.split() for row in done.stdout.splitlines()[1:]]
    assert {row[1] for row in rows} == {"sm_90", "sm_90a"}
    assert {row[0] for row in rows if row[1] == "sm_90a"} == {
        f"attention_{of}sm90_{dtype}_{width}"
        for of in ("", "backward_", "finish_")
        for dtype in ("f16", "bf16")
        for width in (64, 128)
    } | {f"packed_linear_sm90_{rows}_{dtype}" for rows in (64, 128) for dtype in ("f16", "bf16")}
    entries = sum(source.read_text().count('extern "C" __global__') for source in PACK.parent.glob("*/cuda/*.cu"))
    assert len({row[0] for row in rows}) > entries  # which macros repeat for each type


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
def test_a_kernel_that_spills_is_named(tmp_path: Path) -> None:
    source = tmp_path / "wide.cu"
    source.write_text(
        'extern "C" __global__ void __launch_bounds__(1024) wide(float* p) {\n'
        "  float a[192];\n"
        "#pragma unroll\n"
        "  for (int i = 0; i < 192; ++i) a[i] = p[i * 1024 + threadIdx.x];\n"
        "  __syncthreads();\n"
        "#pragma unroll\n"
        "  for (int i = 0; i < 192; ++i) p[i * 1024 + threadIdx.x] = a[i] * a[191 - i];\n"
        "}\n"
    )
    command = [sys.executable, PACK / "resources.py", source, "--arch", "80"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert "wide for sm_80: " in done.stderr
    assert "bytes spilled: make its tile smaller" in done.stderr
