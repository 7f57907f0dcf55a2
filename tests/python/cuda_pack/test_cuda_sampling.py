"""argmax, sample, topk and apply_repetition_penalty of kernpack-kernels-cuda on the emulated device, against the CPU's results."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_rows_of_logits_give_what_they_give_on_the_cpu(cases: Callable[..., None], dtype: str) -> None:
    cases("sampling_cases.py", *(f"{group}:{dtype}" for group in ("argmax", "topk", "sample", "penalty")), seed=3)


def test_a_token_outside_the_row_fails_by_name(cases: Callable[..., None]) -> None:
    cases("sampling_cases.py", "outside")
