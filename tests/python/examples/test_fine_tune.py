"""examples/chat/fine_tune.py on a small model: `make fine-tune` runs it on the shipped one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from small_gguf import write

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "chat" / "fine_tune.py"
for _package in ("torch", "transformers", "tokenizers", "tqdm"):
    pytest.importorskip(_package, reason=f"{_package} is not installed")


def test_a_patched_model_learns_as_the_plain_one_does(tmp_path: Path) -> None:
    model = write(tmp_path / "small.gguf")
    done = subprocess.run(
        [sys.executable, EXAMPLE, "--steps", "4", "--model", model],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "2"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"ms per step +[\d,]+ MiB", done.stdout)) == 5, done.stdout
    assert re.search(r"float32: +patched and torch differ by \S+ at most in a step \(limit 1e-03\)", done.stdout)


def test_a_file_that_is_not_a_model_is_named(tmp_path: Path) -> None:
    file = tmp_path / "text.gguf"
    file.write_text("no model")
    done = subprocess.run([sys.executable, EXAMPLE, "--model", file], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"fine_tune: {file}: ")
