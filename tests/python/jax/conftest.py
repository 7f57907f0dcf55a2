"""One module of small kernels, compiled once, for the JAX tests. Needs `kernpack` importable (PYTHONPATH=<build>/python)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from jax_modules import compile_module

os.environ.setdefault("JAX_PLATFORMS", "cpu")
pytest.importorskip("jax", reason="jax is not installed")


@pytest.fixture(scope="session")
def module_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_module(tmp_path_factory.mktemp("jax") / "jax_kernels.so")


@pytest.fixture(scope="session")
def k(module_path: Path):
    import kernpack

    return kernpack.load(str(module_path))
