"""packed_linear and packed_embedding of kernpack-kernels-cuda on the emulated device, against float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_products_agree_with_the_unpacked_weights(cases: Callable[..., None], dtype: str) -> None:
    more = ["embedding", "refusals"] if dtype == "f32" else []
    cases("packed_cases.py", f"products:{dtype}", f"ends:{dtype}", f"unaligned:{dtype}", *more, seed=6)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_products_of_sm_90_agree_where_they_are_chosen(cases: Callable[..., None], dtype: str) -> None:
    more = ["left_to_others"] if dtype == "f16" else []
    chosen = {"KERNPACK_CUDA_PACKED_LINEAR": "wgmma"}
    cases("packed_cases.py", f"sm90:{dtype}", f"unaligned:{dtype}", *more, seed=19, **chosen)


def test_a_kernel_of_products_that_there_is_not_is_refused(cases: Callable[..., None]) -> None:
    cases("packed_cases.py", "no_such_kernel", KERNPACK_CUDA_PACKED_LINEAR="fast")


@pytest.mark.parametrize("chosen", ["mma", "wgmma"])
@pytest.mark.parametrize("how", ["magic", "format", "columns", "short"])
def test_a_damaged_weight_fails_by_name(cases: Callable[..., None], how: str, chosen: str) -> None:
    cases("packed_cases.py", f"damaged:{how}:{chosen}", KERNPACK_CUDA_PACKED_LINEAR=chosen)
