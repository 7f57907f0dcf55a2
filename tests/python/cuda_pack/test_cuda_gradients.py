"""Gradients of the row operations of kernpack-kernels-cuda, and cross_entropy, on the emulated device, against float64."""

from __future__ import annotations

from collections.abc import Callable

import pytest

CASES = "gradient_cases.py"
GROUPS = ("norms", "gates", "softmax", "embedding", "rope")


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16"])
def test_gradients_of_rows_agree_with_the_reference(cases: Callable[..., None], dtype: str) -> None:
    more = {"f32": ("magnitudes", "layouts", "cross_entropy"), "f64": ("magnitudes",)}
    groups = (*GROUPS, *more.get(dtype, ("layouts", "cross_entropy")))
    cases(CASES, *(f"{group}:{dtype}" for group in groups), seed=7)


def test_refusals_of_gradients_say_what_was_expected(cases: Callable[..., None]) -> None:
    cases(CASES, "refusals")


@pytest.mark.parametrize("op", ["embedding_backward", "cross_entropy"])
def test_a_row_or_class_that_does_not_exist_fails_by_name(cases: Callable[..., None], op: str) -> None:
    cases(CASES, f"outside:{op}")


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_the_gradient_of_attention_agrees_with_the_reference(cases: Callable[..., None], dtype: str) -> None:
    groups = [f"{group}:{dtype}" for group in ("borders", "lengths", "masks", "layouts", "sinks")]
    cases("attention_gradient_cases.py", *groups, *(("empty", "refusals") if dtype == "f32" else ()), seed=3)


@pytest.mark.parametrize(("dtype", "mma_order"), [("f16", 3), ("bf16", 1), ("bf16", 2)])
def test_the_gradient_of_attention_of_sm_90_agrees_where_it_is_chosen(
    cases: Callable[..., None], dtype: str, mma_order: int
) -> None:
    seed = mma_order * 19
    cases(
        "attention_gradient_cases.py", f"sm90:{dtype}", mma_order=mma_order, seed=seed, KERNPACK_CUDA_ATTENTION="wgmma"
    )
