"""torch keeps compiled programs on disk. They know an operator by its name, so its contract has to be a part of their key."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import kernpack
import kernpack.torch
import torch

PROGRAM = """
import sys
import kernpack, kernpack.torch, torch
dtype, c = sys.argv[1:]
source = f'''void f(kp::TensorView x, kp::MutTensorView out) {{
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<{c}>()[i] = 2 * x.data_ptr<float>()[i];
}}'''
k = kernpack.load_inline(source, {"f": f"(x: f32[N]) -> (out: {dtype}[N])"}, name="compile_caches")
print(torch.compile(lambda x: k.f(x) + 1, fullgraph=True)(torch.arange(4.0)).tolist())
"""


def test_a_program_compiled_under_another_contract_is_not_taken_from_the_cache(tmp_path: Path) -> None:
    environment = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=str(tmp_path))
    for dtype, c in (("f32", "float"), ("f64", "double"), ("f32", "float")):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, dtype, c], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.split("\n")[0] == "[1.0, 3.0, 5.0, 7.0]", dtype


def test_a_key_that_the_user_set_is_kept() -> None:
    def load(name: str) -> None:
        k = kernpack.load_inline("void f(kp::TensorView x) {}", {"f": "(x: f32[N]) -> ()"}, name=name)
        kernpack.torch.ops(k)

    config = torch.compiler.config
    before = config.cache_key_tag
    try:
        config.cache_key_tag = "mine;"
        load("compile_caches_first")
        first = config.cache_key_tag
        load("compile_caches_second")
        second = config.cache_key_tag
    finally:
        config.cache_key_tag = before
    assert first.startswith("mine;kernpack:")
    assert second.startswith("mine;kernpack:")
    assert first != second
    assert len(first) == len(second)
