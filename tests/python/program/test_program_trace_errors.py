"""Operations that a traced function can't do, each with a message that names the alternative."""

from __future__ import annotations

import threading

import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
from kernpack_compiler import program
from sample import TENSOR, halve


def refusal(body, *specs, **options) -> str:
    with pytest.raises(program.TraceError) as caught:
        program.trace(body, *(specs or [TENSOR]), name="main", **options)
    return str(caught.value)


def test_branching_on_a_symbol_points_to_cond(k):
    def body(x):
        return k.scale(x) if k.any_negative(x) else x

    message = refusal(body)
    assert "bool[] (from sample.any_negative, test_program_trace_errors.py:" in message
    assert "program.cond(" in message


@pytest.mark.parametrize("ask", [float, int, lambda s: [0][s], lambda s: s[0], list, np.asarray, np.add.reduce])
def test_a_value_is_never_asked_for(ask):
    assert "f32[4, 6] (parameter x): " in refusal(lambda x: ask(x))


def test_writing_to_a_symbol_is_refused():
    def body(x):
        x[0] = 1

    assert "values never change" in refusal(body)


def test_an_operator_without_operators_says_how_to_give_them():
    assert "'add' of symbols" in refusal(lambda x: x + x)
    assert "operators=" in refusal(lambda x: x + x)


def test_an_operator_that_is_not_among_the_operators_is_named():
    assert "have no 'matmul'" in refusal(lambda x: x @ x, operators=object())


def test_functions_of_numpy_are_operators():
    assert "'sin' of symbols" in refusal(lambda x: np.sin(x))


def test_mixing_symbols_and_arrays_names_the_argument(k):
    message = refusal(lambda x: k.add(x, np.ones((4, 6), np.float32)))
    assert "add: y: expected a symbol or a number, got an array (numpy ndarray, f32[4, 6])" in message
    assert "make it an argument of the traced function" in message


def test_an_argument_of_no_known_kind_is_refused(k):
    assert "expected a symbol, a number, a str, a dtype or None, got set" in refusal(lambda x: halve({1}))


def test_a_symbol_that_outlives_its_trace_is_refused(k):
    kept = []
    program.trace(lambda x: kept.append(x) or k.scale(x), TENSOR, name="first")
    message = refusal(lambda x: k.add(x, kept[0]))
    assert message.startswith("first: f32[4, 6] (parameter x): ")
    assert "this symbol outlived its trace" in message


def test_a_symbol_outside_of_any_trace_is_refused(k):
    kept = []
    program.trace(lambda x: kept.append(x) or x, TENSOR)
    with pytest.raises(RuntimeError, match=r"program\.trace\(\) runs"):
        k.scale(kept[0])


def test_closing_over_a_symbol_of_the_outer_trace_is_refused(k):
    def body(x):
        return program.cond(k.any_negative(x), lambda: k.scale(x), lambda: k.scale(x))

    message = refusal(body)
    assert "belongs to the trace of 'main', not to that of 'main_then'" in message
    assert "pass it as an argument" in message


def test_a_result_that_is_no_symbol_is_named():
    assert "result loss: expected a symbol, got float" in refusal(lambda x: {"x": x, "loss": 0.5})


def test_both_sides_of_cond_give_the_same(k):
    def body(x):
        return program.cond(k.any_negative(x), lambda a: k.scale(a), lambda a: k.any_negative(a), x)

    message = refusal(body)
    assert "got f32[4, 6] from main_then and bool[] from main_else" in message


def test_two_devices_for_one_value_name_both(k):
    def body(x):
        return program.on_device(program.on_device(k.scale(x), "opencl"), "cpu")

    message = refusal(body)
    assert "opencl" in message
    assert "cpu" in message
    assert "device_copy" in message


def test_destinations_are_refused(k):
    def body(x, y):
        return k.scale(x, out=y)

    assert "scale: out: a program's values never change" in refusal(body, TENSOR, TENSOR)


def test_wrong_shapes_are_found_while_tracing(k):
    with pytest.raises(
        ValueError, match=r"sample\.add: y: expected shape \[N, D\] with D = 6 \(bound by x\), got \[4, 7\]$"
    ):
        program.trace(lambda x, y: k.add(x, y), TENSOR, program.Spec((4, 7), "f32"))


def test_wrong_shapes_of_symbols_are_found_while_tracing(k):
    rows = program.Spec(("M", 6), "f32")
    with pytest.raises(ValueError, match=r"sample\.add: y: expected shape .* with D = 6 \(bound by x\), got \[M, 7\]$"):
        program.trace(lambda x, y: k.add(x, y), rows, program.Spec(("M", 7), "f32"))


def test_a_call_while_tracing_is_refused_as_a_call_with_arrays_is(k):
    wrong = np.zeros((4, 6), np.int32)
    with pytest.raises(TypeError) as called:
        k.scale(wrong)
    with pytest.raises(TypeError) as traced:
        program.trace(lambda x: k.scale(x), program.Spec(wrong.shape, "i32"))
    first_line = str(called.value).partition("\n")[0]  # advice on arrays follows
    assert str(traced.value).split(": ", 2)[2] == first_line.split(": ", 1)[1]


def test_an_error_in_the_function_ends_the_trace(k):
    def body(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        program.trace(body, TENSOR)
    with pytest.raises(RuntimeError, match="no trace is running"):
        program.on_device(None, "cpu")


def test_threads_trace_by_themselves(k):
    texts = {}

    def run(name: str) -> None:
        texts[name] = str(program.trace(lambda x: k.scale(x), TENSOR, name=name))

    threads = [threading.Thread(target=run, args=(f"t{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(text.startswith(f"program {name}(") for name, text in texts.items())
    assert len(texts) == 4


def test_a_contract_that_is_none_is_refused():
    with pytest.raises(ValueError, match="position"):
        program.foreign("tests.broken", "(x: f33[N]) -> ()")(lambda x: None)


def test_a_program_is_called_while_tracing_only(k):
    traced = program.trace(lambda x: k.scale(x), TENSOR)
    with pytest.raises(RuntimeError, match="no trace is running"):
        traced(np.zeros((4, 6), np.float32))


def test_text_that_calls_an_unknown_function_suggests_one(k):
    text = "program main(x: f32[4, 6]) {\n  y = call sample.scal(x)\n  return y\n}\n"
    with pytest.raises(ValueError, match=r"did you mean 'sample\.scale'"):
        program.Program.parse(text, [k])


def test_text_that_does_not_parse_says_where():
    with pytest.raises(ValueError, match="line 1, column"):
        program.Program.parse("program main(x: f32[4, 6] {")
