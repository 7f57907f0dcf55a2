"""adamw, lion, sgd and clip_grad_norm of kernpack-kernels-cuda on the emulated device, against the CPU's results."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_steps_over_lists_are_those_of_the_cpu(cases: Callable[..., None], dtype: str) -> None:
    cases("optimizer_cases.py", *(f"{group}:{dtype}" for group in ("adamw", "lion", "sgd", "clip")), seed=4)


def test_unaligned_tensors_and_wrong_lists(cases: Callable[..., None]) -> None:
    cases("optimizer_cases.py", "unaligned", "refusals")
