"""Each function of kernpack_kernels takes what docs/ops-matrix.md says, has the derivatives it says, and every op has a row."""

from __future__ import annotations

import platform

import facts_cells
import pytest
from inference_samples import REASONS
from samples import SAMPLES
from table import cell, found

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the table lists the levels of x86-64")


@pytest.fixture(scope="module")
def kernels():
    import kernpack

    return kernpack.load("kernpack_kernels")


def test_every_function_is_in_the_table(kernels):
    """Beside the derivatives that have none themselves."""
    differentiable = {name for name, _ in kernels._gradients}
    assert set(SAMPLES) == set(kernels.functions) - (kernels._derivatives - differentiable)
    assert set(SAMPLES) - differentiable == set(REASONS)


@pytest.mark.parametrize("column", list(facts_cells.COLUMNS))
@pytest.mark.parametrize("name", list(SAMPLES))
def test_cell(kernels, name, column):
    now = found("facts", column, getattr(kernels, name), SAMPLES[name])
    assert cell("facts", name, column) == now, "run tests/python/matrix/table.py facts to write the table"


_EXPORTS = """
void copy(kp::TensorView, kp::MutTensorView) {{}}
KP_EXPORT_FOR("llvm -mcpu=x86-64-v3", gelu, copy, "{contract}");
KP_EXPORT_FOR("c -mcpu=x86-64-v4 -mattr=+avx512vnni", gelu, copy, "{contract}");
KP_EXPORT_FOR("cuda", gelu, copy, "{contract}");
KP_EXPORT_FOR("cuda -arch=sm_90 -host='llvm -mcpu=x86-64-v4'", cumsum, copy, "{contract}");
"""


def test_code_for_devices_adds_no_levels():
    """As of kernpack-kernels-cuda, where that is installed."""
    import kernpack

    contract = "(x: f32[N]) -> (out: f32[N])"
    source = _EXPORTS.format(contract=contract) + f'KP_EXPORT(gelu, copy, "{contract}");\n'
    source += f'KP_EXPORT(cumsum, copy, "{contract}");\n'
    module = kernpack.load_inline(source, {"copy": contract}, name="levels_beside_devices")
    assert "cuda" in module.functions["gelu"].targets
    assert facts_cells.levels(module.gelu, SAMPLES["gelu"]) == "v2, v3, v4+avx512vnni"
    assert facts_cells.levels(module.cumsum, SAMPLES["cumsum"]) == cell("facts", "cumsum", "instruction sets")
