"""Products of scaled 4-bit numbers and copies of im2col, in kernels that nvcc compiles for sm_120."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.emulated import need_nvcc, run_lines

HERE = Path(__file__).parent
SCRIPT = HERE / "call_few_bits.py"

pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")


def test_only_maps_of_im2col_that_copies_can_use_are_made() -> None:
    lines = run_lines(SCRIPT, "maps")
    assert len(lines) == 13
    for line in lines:
        name, result = line.split(": ")
        assert int(result) == (0 if name in {"good", "volumes"} else 1), line


def test_kernels_of_sm_120_are_right(tmp_path: Path) -> None:
    need_nvcc(tmp_path, "cstdint", "C++ library", "nvidia-cuda-nvcc")
    ptx = tmp_path / "few_bits.ptx"
    done = subprocess.run(
        ["nvcc", "-ptx", "-arch=sm_120a", HERE / "few_bits.cu", "-o", ptx], check=False, capture_output=True, text=True
    )
    if "Unsupported gpu architecture" in done.stderr:
        pytest.skip("this nvcc is older than sm_120a: version 12.8 knows it")
    assert done.returncode == 0, done.stderr
    assert run_lines(SCRIPT, str(ptx), devices="sm_120") == ["scaled: right", "pixels: right"]
