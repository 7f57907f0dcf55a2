"""Python's numbers in functions: constants of the wanted type, or errors, and nothing lost on the way."""

from __future__ import annotations

import fractions
import math

import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
from kernpack_compiler import ir

LARGEST_F32 = float(np.finfo(np.float32).max)


def get_value(make, dtype="f64"):
    """The value of an expression that `make` writes."""

    @ir.func(f"() -> (out: {dtype}[1])", name="f")
    def f(out):
        out[0] = make()

    module = ir.IRModule([f])
    assert ir.IRModule.parse(str(module)) == module
    return ir.interpret(module, "f")[0]


@pytest.mark.parametrize("number", [0.1, 1e300, -1e-300, 5e-324, math.pi, math.inf, 2**53 + 2, np.float64(0.1)])
@pytest.mark.parametrize("write", [lambda v: ir.cast("f64", v), lambda v: ir.f64(v), lambda v: ir.cast(ir.f64, v)])
def test_an_f64_is_all_of_the_number(write, number) -> None:
    assert get_value(lambda: write(number)) == float(number)


def test_a_number_beside_an_f64_is_one() -> None:
    for write in (
        lambda a: a * 0.1,
        lambda a: 0.1 / a,
        lambda a: ir.max(a - 1.0, 0.1),
        lambda a: ir.select(a > 0.0, 0.1, a),
        lambda a: ir.pow(a, 2.0) * 0.1,
        lambda a: a - 0.9,
    ):

        @ir.func("(a: f64) -> (out: f64[1])", name="f")
        def f(a, out, write=write):
            out[0] = write(a)

        got = ir.interpret(ir.IRModule([f]), "f", 1.0)[0]
        assert got in (0.1, 1.0 - 0.9)


def test_an_element_is_stored_as_the_number() -> None:
    assert get_value(lambda: 0.1) == 0.1
    assert get_value(lambda: 1e300) == 1e300
    assert get_value(lambda: fractions.Fraction(1, 10)) == 0.1


def test_casts_of_numbers_are_those_of_their_values() -> None:
    assert get_value(lambda: ir.cast("f32", 0.1), "f32") == np.float32(0.1)
    assert get_value(lambda: ir.cast("i32", -1.9), "i32") == -1
    assert get_value(lambda: ir.cast("i64", 2.0**53), "i64") == 2**53
    assert get_value(lambda: ir.cast("u64", 2**64 - 1), "u64") == 2**64 - 1
    assert get_value(lambda: ir.cast("f32", 2**60 + 2**36 + 1), "f32") == np.float32(2**60 + 2**37)
    assert get_value(lambda: ir.cast("i32", True), "i32") == 1
    assert get_value(lambda: ir.select(ir.cast("bool", 0.5), 1, 0), "i64") == 1


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda: ir.cast("i32", 2**40), "1099511627776 does not fit i32"),
        (lambda: ir.cast("u8", -1), "-1 does not fit u8"),
        (lambda: ir.cast("i32", 1e300), "does not fit i32"),
        (lambda: ir.cast("i32", math.nan), "nan does not fit i32"),
        (lambda: ir.cast("f32", 1e300), "1e[+]300 does not fit f32"),
        (lambda: ir.f32(1e-60), "1e-60 does not fit f32"),
        (lambda: ir.f16(1e6), "1000000.0 does not fit f16"),
        (lambda: ir.f8_e4m3fn(1000), "1000 does not fit f8_e4m3fn"),
        (lambda: ir.f64(10**400), "does not fit f64"),
        (lambda: ir.let(1e300), "1e[+]300 does not fit f32"),
        (lambda: ir.f32(1.0) * 1e39, "1e[+]39 does not fit f32"),
    ],
)
def test_what_no_value_is_near_is_refused(write, message) -> None:
    with pytest.raises(OverflowError, match=message):
        ir.func("() -> ()", name="f")(lambda: write())


def test_numbers_at_the_ends_of_a_type_fit() -> None:
    assert get_value(lambda: ir.f32(LARGEST_F32), "f32") == np.float32(LARGEST_F32)
    assert get_value(lambda: ir.f32(-math.inf), "f32") == -math.inf
    assert get_value(lambda: ir.f32(1e-45), "f32") == np.float32(1e-45)


def test_numbers_for_c_functions_need_a_type() -> None:
    with pytest.raises(
        TypeError,
        match=r"extern: half: the number 0.5 has no type; give it that of the C function's parameter, for example ir.f64",
    ):
        ir.func("() -> ()", name="f")(lambda: ir.extern("half", "f64", 0.5))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x[0] * 0.1", 0.1),
        ("0.1", 0.1),
        ("f64(0.1)", 0.1),
        ("f64(-1e300)", -1e300),
        ("min(1e300, x[0] + 1e299)", 1e299),
        ("select(x[0] > 2.0, x[0], 1e-300)", 1e-300),
        ("f64(0.1f32)", float(np.float32(0.1))),
    ],
)
def test_a_literal_of_the_text_form_is_of_the_type_beside_it(text, value) -> None:
    module = ir.IRModule.parse(f"func f(x: f64[1]) -> (out: f64[1]) {{ out[0] = {text} }}")
    assert ir.IRModule.parse(str(module)) == module
    assert ir.interpret(module, "f", np.ones(1))[0] == value


def test_a_literal_that_its_type_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match=r"line 1, column 50: 1e\+?300 is not in the range of f32"):
        ir.IRModule.parse("func f(x: f32[1]) -> (out: f32[1]) { out[0] = 1e300 }".replace("out[0] =", "out[0] =   "))
