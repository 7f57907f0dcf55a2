"""Nothing is found in ops without a mistake: those of fine.cc, and the kernels that this project ships.

KERNPACK_CASE_SEEDS=100 tries the kernels with so many seeds (`make cases`)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from kernpack_sdk.testing.bench import Options
from kernpack_sdk.testing.case import Result
from kernpack_sdk.testing.runner import Plan, run

INPUTS = Path(__file__).parents[2] / "kernpack_inputs.py"
SEEDS = int(os.environ.get("KERNPACK_CASE_SEEDS", "1"))
# One op of each kind of contract, with its gradients.
KERNELS = ("embedding*", "rms_norm", "rms_norm_backward", "softmax", "softmax_mask_backward*", "mean_pool")
# Checks that compile a program for each call take most of the time, JAX included (tests/python/matrix has every kernel in it): all of these
# run in `kernpack test kernpack_kernels`.
SHORT = ("calls", "memory", "garbage", "strided", "special", "torch")
QUICK = ("[!jto]*", "torch", "tangents", "opcheck", "jax")


def _findings(results: list[Result]) -> list[str]:
    found = [(each, finding) for each in results if each.status != "allowed" for finding in each.findings]
    return [f"{each.op}: {each.check}: {finding.text} {finding.call}" for each, finding in found]


def test_ops_of_every_shape(compiled: Callable[[str], str]) -> None:
    facts, results = run(Plan(compiled("fine.cc"), checks=QUICK))
    assert _findings(results) == []
    assert facts["module"] == "fine_cases"
    made = {each.op: each.calls for each in results if each.check == "repeat"}
    assert len(made) == 17
    assert min(made.values()) >= 16, made  # kernels that want offsets, positions and sums got what they want


def test_every_kernel_takes_every_kind_of_call() -> None:
    facts, results = run(Plan("kernpack_kernels", inputs=INPUTS, checks=SHORT))
    assert _findings(results) == []
    assert sum(each.check == "calls" and each.status == "passed" for each in results) == len(facts["functions"])


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_shipped_kernels_pass_every_quick_check(seed: int) -> None:
    ops = KERNELS if SEEDS == 1 else ()
    _, results = run(Plan("kernpack_kernels", Options(seed=seed), inputs=INPUTS, ops=ops, checks=QUICK))
    assert _findings(results) == []
    assert sum(each.status == "passed" for each in results) > 10 * len({each.op for each in results})
