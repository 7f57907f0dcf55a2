"""The pages of the ops: how contracts are laid out, what is said of gradients, and that a wrong result ends the build."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs/site"))
import op_calls
import op_facts
import ops


def test_a_short_contract_keeps_its_parameters_on_one_line() -> None:
    assert ops.in_lines("f(x: f32[N]) -> (y: f32[N]) with quick") == (
        "f(x: f32[N])\n    -> (y: f32[N])\n    with quick"
    )


def test_a_long_contract_has_a_line_per_parameter() -> None:
    parameters = ", ".join(f"parameter_{i}: f32[N, M, 8]" for i in range(4))
    conditions = ", ".join(f"{name} > 0" for name in "ABCDEFGHIJKLM")
    shown = ops.in_lines(f"f({parameters}, p!: i32[N], *, eps: float = 1e-5) -> (y: f32[N]) where {conditions}").split(
        "\n"
    )
    assert shown[:2] == ["f(", "        parameter_0: f32[N, M, 8],"]
    assert shown[5:9] == ["        p!: i32[N],", "        *,", "        eps: float = 1e-5)", "    -> (y: f32[N])"]
    assert shown[9].startswith("    where A > 0, B > 0")
    assert shown[10].startswith("        ")
    assert max(map(len, shown)) <= 80


def test_gradients_are_read_from_the_functions() -> None:
    docs = {
        "f": "Text.\n\nf(x: f32, w: f32) -> (y: f32)",
        "f_backward": "f_backward(d_y: f32, x: f32) -> (d_x: f32, d_w: f32 sum)",
        "f_backward_jvp": "f_backward_jvp(t_d_y: f32) -> (t_d_x: f32)",
    }
    lines = ops.gradients("f", docs)
    assert "| `x`, `w` | `f_backward` | no | yes |" in lines
    assert lines[-2].startswith("Forward mode: no.")


def test_an_op_without_a_gradient_says_so() -> None:
    assert ops.gradients("f", {"f": "f(x: f32) -> (y: f32)"})[0].startswith("None: ")


def test_frameworks_are_read_from_the_matrix() -> None:
    lines = ops.frameworks("gelu")
    assert lines[0].startswith("| framework | eager |")
    assert [line.split(" | ")[0] for line in lines[2:4]] == ["| jax", "| torch"]
    assert any(line.startswith("- instruction sets: v2, v3, v4") for line in lines)
    with pytest.raises(
        SystemExit, match=r"ops-matrix\.md: expected a row of no such op in each table: run tests/python/matrix"
    ):
        ops.frameworks("no such op")


def test_an_error_beyond_the_bound_ends_the_build() -> None:
    call = op_calls.Call([op_calls.X], {}, lambda x: x)

    def slightly_wrong(x: np.ndarray) -> np.ndarray:
        return x * np.float32(1 + 1e-5)

    assert op_facts.error(lambda x: x, call, "f32") == 0
    with pytest.raises(SystemExit, match=r"slightly_wrong of f32: expected an error up to 1e-06, got 9\.\d+e-06"):
        op_facts.error(slightly_wrong, call, "f32")


def test_ops_that_write_in_place_get_copies() -> None:
    def doubled(xs: list[np.ndarray]) -> None:
        xs[0] *= 2

    before = op_calls.X.copy()
    call = op_calls.Call([op_calls.X], {}, lambda x: 2 * x, run=lambda f, x: (f([x]), x)[1])
    assert op_facts.error(doubled, call, "f32") == 0
    assert np.array_equal(op_calls.X, before)


def test_an_op_of_which_nothing_is_known_ends_the_build() -> None:
    with pytest.raises(SystemExit, match=r"op_calls\.py has no call of the op new_op"):
        op_facts.facts(None, "new_op")
