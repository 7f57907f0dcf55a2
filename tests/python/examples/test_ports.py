"""examples/port_*: what main.py of each prints, before and after the port."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def _printed(name: str, **variables: str) -> str:
    command = [sys.executable, EXAMPLES / name / "main.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **variables})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_module_of_tvm_ffi() -> None:
    printed = _printed("port_tvm_ffi")
    assert "before, under apache-tvm-ffi: the same results: True" in printed
    assert "after, under apache-tvm-ffi: the same results: True" in printed
    told = re.search(
        r"(\d+) non-blank lines become (\d+)", " ".join((EXAMPLES / "port_tvm_ffi/README.md").read_text().split())
    )
    assert told
    assert f"lines: {told[1]} before, {told[2]} after" in printed


def test_a_torch_extension() -> None:
    printed = _printed("port_torch_extension")
    assert [line for line in printed.splitlines() if line.startswith("PyTorch")] == [
        f"PyTorch, {name}: True True" for name in ("sum", "mean", "min", "max")
    ]
    assert "JAX, jit of grad: [0.5, 0.5, 0.25, 0.25, 0.25, 0.25]" in printed
    assert "Refused: segment_sum_csr: indptr: expected ascending row numbers" in printed
    (told,) = re.findall(r"\| `segment_csr.cc` \| (\d+) \|", (EXAMPLES / "port_torch_extension/README.md").read_text())
    source = (EXAMPLES / "port_torch_extension/segment_csr.cc").read_text()
    assert int(told) == sum(bool(line.strip()) for line in source.splitlines())


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc: the CUDA toolkit is not installed")
def test_a_cuda_kernel() -> None:
    printed = _printed("port_cuda_kernel")
    assert "compiled: softmax" in printed
    assert "Refused: softmax: expected tensors on cuda, got cpu" in printed
    if importlib.util.find_spec("kernpack_cuda_emulator") is not None:
        emulated = _printed("port_cuda_kernel", KERNPACK_EMULATOR="sm_90")
        assert "on Emulated GPU 0 (sm_90), close to NumPy: True" in emulated
    skipped = re.search(r"skipped: (.*)", printed)
    if skipped:
        pytest.skip(skipped[1])
    assert "the same results: True\nclose to torch: True" in printed
