"""fused_linear_cross_entropy of the CUDA pack on an emulated device."""

from __future__ import annotations

from collections.abc import Callable

import pytest

CASES = "fused_cases.py"


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_losses_and_gradients_agree_with_the_reference(cases: Callable[..., None], dtype: str) -> None:
    cases(CASES, f"losses:{dtype}", f"ignored:{dtype}", f"unaligned:{dtype}", seed=8)


def test_the_gradient_of_x_is_summed_over_chunks_of_classes(cases: Callable[..., None]) -> None:
    cases(CASES, "chunks:bf16")


def test_refusals_say_what_was_expected(cases: Callable[..., None]) -> None:
    cases(CASES, "empty", "refusals")


def test_a_target_that_is_no_class_fails_by_name(cases: Callable[..., None]) -> None:
    cases(CASES, "outside")
