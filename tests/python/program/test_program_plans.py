"""Plans from Python: what is placed where, what explain() says, and what cannot be placed."""

from __future__ import annotations

import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
import kernpack_compiler as kc
from kernpack_compiler import ir, program
from sample import TENSOR, halve

TARGETS = ["c", "opencl"]


def over_two_devices(k):
    def body(x, y):
        total = program.on_device(k.add(x, y), "opencl")
        return program.on_device(halve(total), "cpu")

    return program.plan(program.trace(body, TENSOR, TENSOR, name="main"), TARGETS)


def test_values_live_where_they_are_annotated(k):
    plan = over_two_devices(k)
    devices = {value[0]: value[2] for value in plan.values}
    assert devices["add"] == "opencl:0"
    assert devices["halve"] == "cpu:0"


def test_one_copy_a_value_and_destination(k):
    def body(x):
        h = program.on_device(k.scale(x), "opencl")
        return halve(h), program.on_device(halve(h), "cpu")

    plan = program.plan(program.trace(body, TENSOR), TARGETS)
    to_cpu = [step for step in plan.steps if step.kind == "copy" and step.device == "cpu:0"]
    assert len(to_cpu) == 1


def test_explain_names_devices_copies_with_reasons_and_the_peak(k):
    text = over_two_devices(k).explain()
    assert text.startswith("main: 2 calls and ")
    assert "sample.add(" in text
    assert "on opencl:0" in text
    assert "add, 96 B: sample.add computes it on opencl:0, tests.halve runs on cpu:0" in text
    assert "peak " in text


def test_explain_names_the_device_of_a_call_without_results():
    doubling = 'module "doubling" func double(x!: f32[N]) -> () { for i in 0..N { x[i] = x[i] * 2.0 } }'
    k = kc.build(ir.IRModule.parse(doubling), "opencl")

    def body(x):
        k.double(x)
        return x

    text = program.plan(program.trace(body, program.Spec(("N",), "f32"), name="main"), TARGETS).explain()
    assert "doubling.double(x) on opencl:0" in text
    assert "host" not in text


def test_explain_gives_the_peak_as_a_formula_where_the_extents_decide_it(k):
    def body(x, y):
        return k.scale(k.scale(k.add(x, y)))

    anything = program.Spec(("N", "D"), "f32")
    text = program.plan(program.trace(body, anything, anything, name="main")).explain()
    assert "peak 0 B" not in text
    assert "peak 2 * 4 * D * N bytes, known when a run has its extents" in text


def test_the_text_of_a_plan_is_a_program(k):
    plan = over_two_devices(k)
    assert program.Program.parse(str(plan), [k]).params == plan.program.params


def test_each_pass_can_be_watched(k):
    seen = {}
    traced = program.trace(lambda x: k.scale(x), TENSOR)
    program.plan(traced, TARGETS, observe=seen.__setitem__)
    assert list(seen) == ["infer_types", "place", "insert_copies", "elide_copies", "assign_streams", "assign_buffers"]


def test_an_open_value_goes_to_the_default_device(k):
    traced = program.trace(lambda x: k.scale(x), TENSOR)
    for default in ("cpu", "opencl"):
        plan = program.plan(traced, TARGETS, default=default)
        assert {step.device for step in plan.steps if step.kind == "call"} == {f"{default}:0"}


def test_targets_are_those_of_the_functions_unless_given(k):
    plan = program.plan(program.trace(lambda x: program.on_device(k.scale(x), "opencl"), TENSOR))
    assert any(device == "opencl:0" for device, _ in plan.native.streams)


def test_a_device_without_a_target_is_refused_by_name(k):
    traced = program.trace(lambda x: program.on_device(k.scale(x), "cuda"), TENSOR)
    with pytest.raises(ValueError, match="cuda"):
        program.plan(traced, TARGETS)


def test_a_function_that_does_not_run_there_is_refused(k):
    traced = program.trace(lambda x: program.on_device(halve(x), "opencl"), TENSOR, name="main")
    with pytest.raises(ValueError, match=r"tests\.halve"):
        program.plan(traced, TARGETS)


def test_programs_that_invoke_each_other_in_a_circle_are_refused(k):
    text = (
        "program a(x: f32[4, 6]) {\n  y = invoke b(x)\n  return y\n}\n\n"
        "program b(x: f32[4, 6]) {\n  y = invoke a(x)\n  return y\n}\n"
    )
    with pytest.raises(ValueError, match="invoke"):
        program.Program.parse(text, [k])


def test_a_value_used_before_it_is_made_is_refused(k):
    text = "program main(x: f32[4, 6]) {\n  y = call sample.add(x, z)\n  z = call sample.scale(y)\n  return z\n}\n"
    with pytest.raises(ValueError, match="line 2"):
        program.Program.parse(text, [k])


def test_the_plan_is_drawn(k, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    text = over_two_devices(k).draw(tmp_path / "plan.svg").read_text()
    for label in ("cpu:0", "opencl:0", "add", "halve", "96 B"):
        assert f">{label}<" in text


def test_only_programs_are_planned():
    with pytest.raises(TypeError, match="expected a Program, got function"):
        program.plan(lambda x: x)
