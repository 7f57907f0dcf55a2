"""KP_JVP, as bindings read it from a loaded module."""

from __future__ import annotations

import kernpack
from kernpack import _contract
from kernpack._gradients import Tangent, tangent_plan

SOURCE = """
void scale(kp::TensorView, std::optional<kp::TensorView>, double, kp::MutTensorView) {}
void scale_jvp(kp::TensorView, kp::TensorView, std::optional<kp::TensorView>, std::optional<kp::TensorView>, double, int64_t,
               kp::MutTensorView) {}
KP_JVP(scale, scale_jvp);
"""
CONTRACTS = {
    "scale": "(x: f32[N], w: f32[N]?, *, k: float = 1.0) -> (y: f32[N])",
    "scale_jvp": "(t_x: f32[N], y: f32[N], w: f32[N]?, t_w: f32[N]?, *, k: float, extra: int = 3) -> (t_y: f32[N])",
}


def test_the_plan_says_where_a_tangent_op_finds_its_arguments() -> None:
    module = kernpack.load_inline(SOURCE, CONTRACTS, name="tangent_plans")
    contracts = {name: _contract.of(module.functions[name]) for name in CONTRACTS}
    assert module._jvps == [("scale", "scale_jvp")]
    assert tangent_plan("scale", module._jvps, contracts) == Tangent(
        name="scale_jvp",
        sources=(("tangent", 0), ("result", 0), ("param", 1), ("tangent", 1), ("param", 2), ("default", 0)),
        optional_tangents=frozenset({1}),
        targets=(0,),
    )
    assert tangent_plan("scale_jvp", module._jvps, contracts) is None
