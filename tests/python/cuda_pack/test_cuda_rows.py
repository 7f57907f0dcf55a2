"""Norms, activations, softmax, embedding and rope of kernpack-kernels-cuda on the emulated device, against float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest

GROUPS = ("norms", "magnitudes", "gates", "gelu", "softmax", "embedding", "rope")


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16"])
def test_row_kernels_agree_with_the_reference(cases: Callable[..., None], dtype: str) -> None:
    layouts = [] if dtype == "f64" else [f"layouts:{dtype}"]  # their views are of f32, f16 and bf16
    cases("rows_cases.py", *(f"{group}:{dtype}" for group in GROUPS), *layouts, seed=5)


def test_too_many_dimensions_are_refused(cases: Callable[..., None]) -> None:
    cases("rows_cases.py", "refusals")


@pytest.mark.parametrize("index", [-1, 3, 2**40])
def test_an_index_outside_the_table_fails_by_name(cases: Callable[..., None], index: int) -> None:
    cases("rows_cases.py", f"outside:{index}")
