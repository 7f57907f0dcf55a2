"""One module of small kernels, compiled once, for the JAX tests. Needs `kernpack` importable (PYTHONPATH=<build>/python)."""

from __future__ import annotations

from pathlib import Path

import pytest
from jax_modules import compile_module

pytest.importorskip("jax", reason="jax is not installed")


@pytest.fixture(scope="session")
def module_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_module(tmp_path_factory.mktemp("jax") / "jax_kernels.so")


@pytest.fixture(scope="session")
def k(module_path: Path):
    import kernpack

    return kernpack.load(str(module_path))


@pytest.fixture(scope="session")
def gradients_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_module(tmp_path_factory.mktemp("jax") / "jax_gradients.so", source="gradients.cc")


@pytest.fixture(scope="session")
def g(gradients_path: Path):
    """Kernels with declared gradients."""
    import kernpack

    return kernpack.load(str(gradients_path))


@pytest.fixture(scope="session")
def t(tmp_path_factory: pytest.TempPathFactory):
    """Kernels with declared tangents."""
    import kernpack

    return kernpack.load(str(compile_module(tmp_path_factory.mktemp("jax") / "jax_tangents.so", source="tangents.cc")))


@pytest.fixture
def x64():
    """JAX's 64-bit types, for one test."""
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture(scope="session")
def devices():
    """Eight devices of the CPU backend."""
    import jax

    found = jax.devices()
    if len(found) < 8:
        pytest.fail("expected 8 devices of JAX's CPU backend: unset XLA_FLAGS, which tests/conftest.py sets")
    return found[:8]
