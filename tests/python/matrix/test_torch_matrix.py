"""Each function of kernpack_kernels under each of PyTorch's transformations does what docs/ops-matrix.md says."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch_cells
from samples import SAMPLES
from table import cell, found


@pytest.fixture(scope="module")
def kernels():
    import kernpack

    return kernpack.load("kernpack_kernels")


@pytest.mark.parametrize("column", list(torch_cells.COLUMNS))
@pytest.mark.parametrize("name", list(SAMPLES))
def test_cell(kernels, name, column):
    now = found("torch", column, getattr(kernels, name), SAMPLES[name])
    assert cell("torch", name, column) == now, "run tests/python/matrix/table.py torch to write the table"
