"""argmax, sample, topk and apply_repetition_penalty of kernpack-kernels-cuda on the emulated device, against the CPU's results."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_rows_of_logits_give_what_they_give_on_the_cpu(cases: Callable[..., None], dtype: str) -> None:
    cases("sampling_cases.py", *(f"{group}:{dtype}" for group in ("argmax", "topk", "sample", "penalty")), seed=3)


def test_a_token_outside_the_row_fails_by_name(cases: Callable[..., None]) -> None:
    cases("sampling_cases.py", "outside")


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_rejection_draws_by_the_same_probabilities(cases: Callable[..., None], dtype: str) -> None:
    cases("sampling_cases.py", f"rejection:{dtype}", seed=3, KERNPACK_CUDA_SAMPLE="rejection")


def test_a_kernel_of_sampling_that_there_is_not_is_refused(cases: Callable[..., None]) -> None:
    cases("sampling_cases.py", "no_such_kernel", KERNPACK_CUDA_SAMPLE="fast")
