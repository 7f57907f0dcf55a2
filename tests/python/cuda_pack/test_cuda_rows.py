"""Norms, gated activations and rope of kernpack-kernels-cuda on the emulated device, against float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest

GROUPS = ("norms", "magnitudes", "gates", "rope")


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16"])
def test_row_kernels_agree_with_the_reference(cases: Callable[..., None], dtype: str) -> None:
    layouts = [] if dtype == "f64" else [f"layouts:{dtype}"]  # their views are of f32, f16 and bf16
    cases("rows_cases.py", *(f"{group}:{dtype}" for group in GROUPS), *layouts, seed=5)


def test_tensors_of_too_many_dimensions_are_refused(cases: Callable[..., None]) -> None:
    cases("rows_cases.py", "refusals")
