"""What ptxas says about the kernels of kernels/cuda: they need no more registers than there are."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[3] / "kernels" / "cuda" / "src"


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("source", sorted(SOURCES.rglob("*.cu")), ids=lambda source: source.stem)
def test_no_kernel_spills_registers(source: Path, tmp_path: Path) -> None:
    code = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in (80, 90)]
    command = [
        "nvcc",
        "-std=c++17",
        "-O3",
        "-Xptxas",
        "-v",
        "--threads",
        "2",
        "-fatbin",
        *code,
        "-o",
        tmp_path / "code",
    ]
    done = subprocess.run([*command, source], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    found = re.findall(
        r"function '(\w+)' for '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads",
        done.stderr,
        re.DOTALL,
    )
    assert {arch for _, arch, *_ in found} == {"sm_80", "sm_90"}
    assert [row for row in found if row[2:] != ("0", "0", "0")] == []
