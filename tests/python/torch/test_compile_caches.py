"""torch keeps compiled programs on disk. They know an operator by its name, so its contract has to be a part of their key."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import kernpack
import kernpack.torch
import torch
from support import forked

SCRIPT = Path(__file__).with_name("compile_caches.py")


def test_a_program_compiled_under_another_contract_is_not_taken_from_the_cache(tmp_path: Path) -> None:
    environment = os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    for types in (("f32", "float"), ("f64", "double"), ("f32", "float")):
        printed = forked.run(SCRIPT, types, environment, list(filter(None, sys.path)), tmp_path)
        assert printed.split("\n")[0] == "[1.0, 3.0, 5.0, 7.0]", types


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
