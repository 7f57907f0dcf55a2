"""examples/ship_triton: Triton kernels become a wheel that PyTorch and JAX call without Triton. scripts/emulator-triton downloads Triton
and runs all of it."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from test_examples import ROOT, _run

PACKAGES = ("triton", "kernpack_compiler", "kernpack_cuda_emulator", "auditwheel", "torch", "jax")


def test_the_wheel_is_built_installed_called_and_tested(tmp_path: Path) -> None:
    for package in PACKAGES:
        pytest.importorskip(package, reason=f"{package} is not installed")
    shutil.copytree(ROOT / "examples" / "ship_triton", tmp_path / "ship_triton")
    program = tmp_path / "ship_triton" / "main.py"
    printed = _run(sys.executable, program, "--check", "calls", "--check", "reference", cwd=tmp_path)
    assert re.search(r"^shipped_triton-1\.0\.0-py3-none-manylinux_2_\d+_x86_64\.whl: \d+ KB$", printed, re.MULTILINE)
    assert (
        len(re.findall(r"^\w+ +\d\.\de[-+]\d\d from NumPy, with tensors of (?:torch|jax)$", printed, re.MULTILINE)) == 8
    )
    assert "4 functions, 8 checks passed, 0 failed" in printed
