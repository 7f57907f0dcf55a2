"""packed_linear and packed_embedding of kernpack-kernels-cuda on the emulated device, against float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_products_agree_with_the_unpacked_weights(cases: Callable[..., None], dtype: str) -> None:
    more = ["embedding", "refusals"] if dtype == "f32" else []
    cases("packed_cases.py", f"products:{dtype}", f"ends:{dtype}", f"unaligned:{dtype}", *more, seed=6)


@pytest.mark.parametrize("how", ["magic", "format", "columns", "short"])
def test_a_damaged_weight_fails_by_name(cases: Callable[..., None], how: str) -> None:
    cases("packed_cases.py", f"damaged:{how}")
