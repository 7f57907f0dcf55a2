"""The attention kernels of kernpack-kernels-cuda on the emulated device, which looks for races and stray accesses: against float64,
in each order of sums that mma may have, with warps in order and shuffled."""

from __future__ import annotations

from collections.abc import Callable

import pytest

CASES = "attention_cases.py"
BORDERS = ("borders:f16", "borders:bf16")


@pytest.mark.parametrize(
    ("mma_order", "others"),
    [
        (3, ("layouts:f32", "layouts:f16", "layouts:bf16", "borders:f32")),
        (
            1,
            (
                "lengths:f32",
                "lengths:f16",
                "lengths:bf16",
                "empty:f32",
                "empty:f16",
                "sums:f32",
                "sums:f16",
                "sums:bf16",
            ),
        ),
        (2, ("masks:f32", "masks:f16", "masks:bf16", "sinks:f32", "sinks:f16", "sinks:bf16", "soft_caps:f32")),
    ],
)
def test_attention_agrees_with_the_reference_in_every_order_of_sums(
    cases: Callable[..., None], mma_order: int, others: tuple[str, ...]
) -> None:
    cases(CASES, *BORDERS, *others, mma_order=mma_order, seed=mma_order * 17)


@pytest.mark.parametrize("mma_order", [3, 1, 2])
def test_attention_of_sm_90_agrees_where_it_is_chosen(cases: Callable[..., None], mma_order: int) -> None:
    groups = ("sm90:f16", "sm90:bf16", "left_to_mma:f16", "sums:bf16")
    cases(CASES, *groups, mma_order=mma_order, seed=mma_order * 19, KERNPACK_CUDA_ATTENTION="wgmma")


def test_a_kernel_that_there_is_not_is_refused(cases: Callable[..., None]) -> None:
    cases(CASES, "no_such_kernel", KERNPACK_CUDA_ATTENTION="fast")


def test_attention_beside_pages_agrees_with_the_reference(cases: Callable[..., None]) -> None:
    cases(CASES, "paged:f32", "paged:f16", "paged:bf16", "paged:i8", "alone:f16", seed=9)


def test_pages_that_do_not_exist_are_not_read(cases: Callable[..., None]) -> None:
    cases(CASES, "outside:f16", "outside:i8")


def test_the_same_op_runs_where_its_arguments_are(cases: Callable[..., None]) -> None:
    cases(CASES, "both")


def test_refusals_say_what_was_expected(cases: Callable[..., None]) -> None:
    cases(CASES, "refusals")
