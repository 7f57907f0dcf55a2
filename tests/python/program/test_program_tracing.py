"""Programs traced from Python functions: what is recorded, and how arguments and results are nested."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
from kernpack_compiler import VirtualDevice, program
from sample import ROWS, TENSOR, WIDTH, halve


def test_calls_of_module_functions_become_steps(k):
    traced = program.trace(lambda x, y: k.scale(k.add(x, y), by=3.0), TENSOR, TENSOR, name="both")
    assert str(traced) == (
        "program both(x: f32[4, 6], y: f32[4, 6]) {\n"
        "  add: f32[4, 6] = call sample.add(x, y)\n"
        "  v = const 3.0\n"
        "  scale: f32[4, 6] = call sample.scale(add, v)\n"
        "  return scale\n"
        "}\n"
    )


def test_shapes_and_dtypes_come_from_the_signature(k):
    seen = []

    def body(x):
        low, high = k.split(x)
        seen.extend([low, high, k.any_negative(x)])
        return high

    program.trace(body, TENSOR)
    assert [(s.shape, s.dtype.name, s.ndim) for s in seen] == [
        ((ROWS, WIDTH), "f32", 2),
        ((ROWS, WIDTH), "f32", 2),
        ((), "bool", 0),
    ]


def test_defaults_are_filled_in(k):
    assert "const 2.0" in str(program.trace(lambda x: k.scale(x), TENSOR))


def test_a_lambda_gives_the_program_main(k):
    assert program.trace(lambda x: k.scale(x), TENSOR).name == "main"


def test_equal_constants_are_one(k):
    traced = program.trace(lambda x: k.scale(k.scale(x, by=3.0), by=3.0), TENSOR)
    assert str(traced).count("const") == 1


def test_a_foreign_function_is_called_by_its_name(k):
    assert "call tests.halve(x)" in str(program.trace(lambda x: halve(x), TENSOR))


def test_a_registered_function_needs_the_shape_of_its_result():
    import kernpack

    kernpack.register_func("tests.opaque", lambda x: x, replace=True)
    traced = program.trace(lambda x: program.call("tests.opaque", x, results=program.Spec((3,), "i32")), TENSOR)
    assert "opaque: i32[3] = call tests.opaque(x)" in str(traced)


def test_arguments_and_results_keep_their_nesting(k):
    def body(x, weights):
        return {"sum": k.add(x, weights["first"]), "rest": [weights["more"][0], x]}

    traced = program.trace(body, TENSOR, {"first": TENSOR, "more": [TENSOR, TENSOR]})
    assert [name for name, _ in traced.params] == ["x", "weights_first", "weights_more_0", "weights_more_1"]
    assert [path for path, _ in traced.results] == ["sum", "rest_0", "rest_1"]


def test_arrays_stand_for_their_shape_and_dtype(k):
    traced = program.trace(lambda x: k.scale(x), np.zeros((ROWS, WIDTH), np.float32))
    assert traced.params == [("x", TENSOR)]


def test_numbers_are_part_of_the_program(k):
    traced = program.trace(lambda x, by: k.scale(x, by=by), TENSOR, 7.0)
    assert traced.params == [("x", TENSOR)]
    assert "const 7.0" in str(traced)


def test_scalars_of_numpy_are_numbers(k):
    assert "const 0.5" in str(program.trace(lambda x: k.scale(x, by=np.float32(0.5)), TENSOR))


def test_shapes_may_hold_symbols(k):
    traced = program.trace(lambda x: k.scale(x), program.Spec(("N", WIDTH), "f32"))
    assert "scale: f32[N, 6] = call" in str(traced)


def test_operators_call_what_the_trace_is_given(k):
    class Operators:
        add = staticmethod(k.add)

        @staticmethod
        def multiply(x, by):
            return k.scale(x, by=by)

    traced = program.trace(lambda x, y: (x + y) * 0.5, TENSOR, TENSOR, operators=Operators())
    assert "call sample.add(x, y)" in str(traced)
    assert "const 0.5" in str(traced)


def test_on_device_says_where_a_value_lives(k):
    def body(x):
        return program.on_device(program.on_device(k.scale(x), "opencl"), VirtualDevice(virtual_device_id=1))

    assert "scale: f32[4, 6] @opencl:1 = call" in str(program.trace(body, TENSOR))


def test_device_copy_is_a_step(k):
    assert "= copy x" in str(program.trace(lambda x: program.device_copy(x, "opencl"), TENSOR))


def test_cond_traces_both_sides(k):
    def body(x):
        return program.cond(k.any_negative(x), lambda x: k.scale(x), lambda x: halve(x), x)

    text = str(program.trace(body, TENSOR, name="choose"))
    assert "= if any_negative then choose_then else choose_else(x)" in text
    assert text.index("program choose_then") < text.index("program choose(")


def test_a_program_is_called_by_another(k):
    inner = program.trace(lambda x: k.scale(x), TENSOR, name="inner")
    outer = program.trace(lambda x: k.add(inner(x), inner(x)), TENSOR, name="outer")
    assert str(outer).count("= invoke inner(x)") == 2
    assert str(outer).count("program inner(") == 1


def test_define_is_trace_as_a_decorator(k):
    @program.define(TENSOR)
    def doubled(x):
        return k.scale(x)

    assert isinstance(doubled, program.Program)
    assert repr(doubled) == "<Program doubled: parameters: 1, calls: 1, functions: 1, results: 1>"


@pytest.mark.parametrize("functions", [lambda k: [k], lambda k: list(k.functions.values())])
def test_text_reads_back_as_the_same_program(k, functions):
    def body(x):
        low, high = k.split(x)
        return program.cond(k.any_negative(x), lambda a: k.scale(a), lambda a: halve(a), low), high

    traced = program.trace(body, TENSOR)
    again = program.Program.parse(str(traced), functions(k))
    assert again == traced
    assert again.params == traced.params
