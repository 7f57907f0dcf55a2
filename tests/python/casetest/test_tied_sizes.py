"""Ints and items of lists that conditions tie to sizes: nothing is found where they mean something, and what ignores them is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from kernpack_sdk.testing.runner import Plan, run

RIGHT = ("onto", "conv*", "thinned*", "taps*", "upside", "scaled")
OF_LISTS = ("conv", "conv_backward", "thinned", "thinned_backward")  # `stride[0]` is a size
CHECKS = ("[!jtopf]*", "torch", "opcheck", "jax")


def test_nothing_is_found_in_right_kernels(compiled: Callable[[str], str]) -> None:
    _, results = run(Plan(compiled("tied.cc"), ops=RIGHT, checks=CHECKS))
    assert [(each.op, each.check, each.findings) for each in results if each.findings] == []
    passed = {(each.op, each.check) for each in results if each.status == "passed"}
    assert {(op, check) for op in OF_LISTS for check in ("calls", "memory", "hosts", "torch", "jax")} <= passed
    assert {("conv", "gradients"), ("thinned", "gradients"), ("thinned", "invariant"), ("thinned", "rows")} <= passed


@pytest.mark.parametrize(
    ("op", "name"), [("ignores_stride", "stride"), ("ignores_group", "group"), ("ignores_window", "window")]
)
def test_an_int_without_an_effect_is_found(compiled: Callable[[str], str], op: str, name: str) -> None:
    _, results = run(Plan(compiled("tied.cc"), ops=(op,), checks=("influence",)))
    (finding,) = results[0].findings
    assert finding.text.startswith(f"expected {name} to change a result")
