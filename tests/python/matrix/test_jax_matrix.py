"""Each function of kernpack_kernels under each of JAX's transformations does what docs/ops-matrix.md says."""

from __future__ import annotations

import pytest

pytest.importorskip("jax", reason="jax is not installed")
pytest.importorskip("flatbuffers", reason="jax.export writes bytes with flatbuffers, which is not installed")

import jax
import jax_cells
from samples import SAMPLES
from table import cell, found


@pytest.fixture(scope="module", autouse=True)
def x64():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture(scope="module")
def kernels():
    import kernpack

    return kernpack.load("kernpack_kernels")


@pytest.mark.parametrize("column", list(jax_cells.COLUMNS))
@pytest.mark.parametrize("name", list(SAMPLES))
def test_cell(kernels, name, column):
    now = found("jax", column, getattr(kernels, name), SAMPLES[name])
    assert cell("jax", name, column) == now, "run tests/python/matrix/table.py jax to write the table"
