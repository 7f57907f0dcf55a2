"""An error in an IR function or its text is a Python exception that names the error and its position."""

from __future__ import annotations

import inspect
import math
import re
import signal
from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
from kernpack_compiler import ir

COPY = "(x: f32[N]) -> (out: f32[N])"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("func f(", ValueError, r"^line 1, column 8: expected the name of a parameter"),
        ("func f() -> () {", ValueError, r"^line 1, column 17: expected a statement or '}'"),
        ("func f() -> () {\n  let a = b\n}", ValueError, r"^line 2, column 11: 'b' is not defined here"),
        ("func f(x: f31[N]) -> () { }", ValueError, r"^line 1, column 11: "),
        ("func f(x: f32[-1]) -> () { }", ValueError, r"^line 1, column 8: x: expected an extent of at least 0, got -1"),
        ("func f(x: f32[N + 1]) -> () { }", ValueError, "no parameter binds 'N'"),
        ("func f() -> () { let a = 1 + 1.5 }", TypeError, r"^line 1, column 28: "),
        ('func f() -> () { let a = "\xff" }', ValueError, r"^line 1, column 26: "),
    ],
)
def test_malformed_text(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ir.IRModule.parse(text)


def test_text_of_one_function() -> None:
    with pytest.raises(ValueError, match="expected the text of one function, got 0"):
        ir.PrimFunc.parse("")


def find_line(function, statement: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if statement in line)


def test_the_verifier_names_file_and_line_of_python() -> None:
    @ir.func(COPY)
    def shifted(x, out, N):
        with ir.serial(N) as i:
            out[i] = x[i + 1]

    line = find_line(test_the_verifier_names_file_and_line_of_python, "out[i] = x[i + 1]")
    with pytest.raises(
        IndexError,
        match=rf"^{re.escape(__file__)}, line {line}, column 13: shifted: access past the end of dimension 0 of 'x'",
    ):
        ir.IRModule([shifted]).verify()


def test_stores_that_may_meet_are_refused() -> None:
    @ir.func(COPY)
    def racy(x, out, N):
        with ir.parallel(N) as i:
            out[0] = x[i]

    with pytest.raises(ValueError, match=r"racy: .*may touch the same elements of 'out'"):
        ir.IRModule([racy]).verify()


def test_a_variable_of_another_function_is_unbound() -> None:
    taken: list[ir.Expr] = []

    @ir.func(COPY)
    def first(x, N):
        with ir.serial(N) as i:
            taken.append(i)

    @ir.func(COPY)
    def second(x, out):
        out[taken[0]] = 1.0

    with pytest.raises(ValueError, match="second: variable 'i' has no value here"):
        ir.IRModule([first, second]).verify()


def test_wrong_headers_are_refused_at_their_line() -> None:
    with pytest.raises(TypeError, match="expected a header such as"):
        ir.func(lambda x: x)
    with pytest.raises(TypeError, match="f: 'y' is not in its header; there are N, x, out"):

        @ir.func(COPY)
        def f(y): ...

    with pytest.raises(ValueError, match=rf"^{re.escape(__file__)}, line \d+: g: header .*, column \d+: "):

        @ir.func("(x: f32[N]) -> out")
        def g(x): ...

    with pytest.raises(ValueError, match=r"h: header .*, column 10: expected the end of the header, got '{'"):

        @ir.func("() -> () { } func other() -> ()")
        def h(): ...


def trace(body) -> None:
    ir.func("(x: f32[N], n: i32, out!: f32[N]) -> ()", name="f")(body)


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        (lambda x, n: ir.let(x[0] + n), TypeError, "f32 and i32"),
        (lambda n: ir.let(n + 0.5), TypeError, "0.5 is a float where i32 is needed; cast one side"),
        (lambda n: ir.let(n + 2**40), OverflowError, "1099511627776 does not fit i32"),
        (lambda n: ir.let(n / 2), TypeError, r"/ divides floats; for integers use // \(rounds down\) or ir.truncdiv"),
        (lambda x: ir.let(x[0] + "1"), TypeError, "expected an expression or a number of f32, got str"),
        (lambda x: ir.let(max(x[0], 1.0)), TypeError, "has no value while a function is being written"),
        (lambda x: ir.let(x[0, 0]), ValueError, "x: expected 1 indices, one per dimension, got 2"),
        (lambda x: len(x), TypeError, r"the length of 'x' is not known yet; use x.shape\[0\]"),
        (lambda x: list(x), TypeError, r"'x' cannot be iterated over while a function is being written"),
        (lambda: ir.alloc("f32", [-1]), ValueError, "expected an extent of at least 0, got -1"),
        (lambda: ir.alloc("f33", [1]), ValueError, "the IR has no type 'f33'"),
        (
            lambda: ir.alloc("f32", [1], "global"),
            ValueError,
            "unknown scope 'global'; expected local, shared or workspace",
        ),
        (lambda: ir.reduce("-", 3, lambda k: k), ValueError, "-"),
        (lambda x: ir.sum(3, lambda k: x[k], order="any"), ValueError, "expected a number of partial results"),
        (lambda: ir.vectorized(8, lanes=4, tail="none"), ValueError, "expected 'peeled' or 'masked', got 'none'"),
        (lambda x: ir.check(x[0] > 0.0, "no", "Nonsense"), ValueError, "Nonsense"),
    ],
)
def test_wrong_bodies_are_refused_at_their_line(body, error: type[Exception], message: str) -> None:
    line = body.__code__.co_firstlineno
    with pytest.raises(error, match=rf"^{re.escape(__file__)}, line {line}: .*{message}"):
        trace(body)


def leaves_a_loop_open(n) -> None:
    ir.serial(4).__enter__()


def ends_a_loop_that_did_not_begin(n) -> None:
    ir.serial(4).__exit__(None, None, None)


def yields(n):
    with ir.serial(4):
        yield


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        (leaves_a_loop_open, RuntimeError, "f: 1 blocks are open at its end; write loops and branches as `with"),
        (ends_a_loop_that_did_not_begin, RuntimeError, "the end of a block that isn't open"),
        (yields, TypeError, "f: expected the body to return None, got generator"),
        (
            lambda n: n + 1,
            TypeError,
            r"f: expected the body to return None, got Expr; the body runs once and writes its",
        ),
        (None, TypeError, "expected a function to run, got NoneType"),
    ],
)
def test_blocks_and_bodies_that_would_be_lost(body, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ir.func("(n: i32) -> ()", **({} if body is None else {"name": "f"}))(body)
    trace(lambda n: None)  # nothing is left open for the next


def test_a_function_needs_a_name() -> None:
    with pytest.raises(ValueError, match="'<lambda>' isn't a valid function name; pass name="):
        ir.func("() -> ()")(lambda: None)


def test_loops_nest_deeper_than_there_are_letters() -> None:
    def nested(out, depth: int) -> None:
        with ir.serial(1):
            nested(out, depth - 1) if depth else out.__setitem__(0, 1.0)

    deep = ir.func("() -> (out: f32[1])", name="deep")(lambda out: nested(out, 40))
    assert ir.interpret(ir.IRModule([deep]), "deep") == [1.0]


def test_the_interpreter_can_be_interrupted() -> None:
    module = ir.IRModule.parse("func f(x!: i64[1]) -> () { for i in 0..9000000000000000000 { x[0] = x[0] + 1 } }")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt("from the test")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt, match="from the test"):
            ir.interpret(module, "f", np.zeros(1, np.int64))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_statements_need_a_function() -> None:
    with pytest.raises(RuntimeError, match=r"statements of the IR belong in a function that @ir.func decorates"):
        ir.barrier()
    with pytest.raises(ZeroDivisionError):
        trace(lambda: 1 // 0)
    with pytest.raises(RuntimeError, match="statements of the IR belong"):
        ir.barrier()


def test_otherwise_needs_when() -> None:
    def body(x, out):
        with ir.when(x[0] > 0.0):
            out[0] = 1.0
        out[0] = 2.0
        with ir.otherwise():
            out[0] = 3.0

    with pytest.raises(RuntimeError, match=r"ir.otherwise\(\) follows the block of ir.when\(\) directly"):
        trace(body)


def test_illegal_schedules_name_file_and_line() -> None:
    p = ir.StageProgram("halve")
    n = p.dim("N")
    x = p.input("x", "f32", [n])
    p.result(p.compute("y", [n], lambda i: x[i] * 0.5))
    schedule = ir.Schedule(p)
    steps = [
        lambda: schedule.split("y", "i7", 4),
        lambda: schedule.vectorize("y", schedule.axes("y")[0], 3),
        lambda: schedule.compute_at("y", "z", "i"),
        lambda: p.input("z", "f33", [4]),
    ]
    for step in steps:
        line = step.__code__.co_firstlineno
        with pytest.raises(ValueError, match=rf"^{re.escape(__file__)}, line {line}: "):
            step()


def test_what_a_body_raises_by_itself_stays_as_it_is() -> None:
    with pytest.raises(KeyError, match=r"^'mine'$"):
        trace(lambda: {}["mine"])


@ir.func("(x: f32[N], k: i32) -> (out: f32[N - 2])")
def shorter(x, out, N):
    with ir.serial(N - 2) as i:
        out[i] = x[i]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.ones(3, np.float64), 1), TypeError, "shorter: x: expected f32, got f64"),
        ((np.ones((3, 3), np.float32), 1), ValueError, "shorter"),
        ((np.ones(1, np.float32), 1), ValueError, r"shorter: out: negative extent in shape \[-1\]"),
        ((np.ones((6,), np.float32)[::2], 1), ValueError, "shorter: x: expected a contiguous tensor"),
        ((np.ones(3, np.float32), "1"), TypeError, "shorter: k: expected a number for i32, got str"),
        ((np.ones(3, np.float32), 2**40), ValueError, "shorter: k: 1099511627776 does not fit i32"),
        ((1.0, 1), TypeError, "shorter: x: expected a tensor of f32, got float"),
        ((np.ones(3, np.float32),), TypeError, "shorter: expected 2 arguments or 3 with the results, got 1"),
        ((np.ones(3, np.float32), 1, np.ones(2, np.float32)), ValueError, "shorter: out: "),
    ],
)
def test_arguments_of_the_interpreter(arguments: tuple, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ir.interpret(ir.IRModule([shorter]), "shorter", *arguments)


def test_unknown_names() -> None:
    module = ir.IRModule([shorter], "mine")
    with pytest.raises(KeyError, match="module 'mine' has no function 'longer'"):
        module["longer"]
    with pytest.raises(ValueError, match="two functions are named 'shorter'"):
        ir.IRModule([shorter, shorter])
    with pytest.raises(ValueError, match="no pass is named 'fuse'; there are "):
        ir.run_pass(module, "fuse")
    with pytest.raises(ValueError, match="has no option 'mcppu'; did you mean 'mcpu'"):
        ir.IRModule([shorter], target="llvm -mcppu=x")


def written(body: Callable[..., object], header: str = "(x: f32[N, D]) -> (out: f32[N, D])") -> None:
    @ir.func(header)
    def f(x, out, N, D):
        with ir.serial(N) as i, ir.serial(D) as j:
            body(x, out, N, i, j)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda x, out, N, i, j: list(range(N)), r"'N' has no value .*count with `with ir.serial\(n\) as i:`"),
        (lambda x, out, N, i, j: math.exp(x[i, j]), r"'x\[i, j\]' has no value .*ir.exp\(x\)"),
        (lambda x, out, N, i, j: x + 1, r"'x' is a tensor, expected one of its elements: index it, as in x\[i, j\]"),
        (lambda x, out, N, i, j: 2 * x, "'x' is a tensor"),
        (lambda x, out, N, i, j: np.float32(2) * x, "'x' is a tensor"),
        (lambda x, out, N, i, j: ir.exp(x), "'x' is a tensor"),
        (lambda x, out, N, i, j: list(ir.serial(N)), "opened by `with`, as in `with ir.serial"),
        (lambda x, out, N, i, j: ir.sum(N, x[i, j]), "reduce: body: expected a function of the counter"),
        (lambda x, out, N, i, j: ir.reduce("add", N, lambda k: x[k, j]), "no operation 'add' to join values; it has +"),
    ],
)
def test_python_that_the_ir_is_not(body: Callable[..., object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message) as raised:
        written(body)
    assert str(raised.value).startswith(f"{__file__}, line ")


def test_numbers_of_numpy_are_numbers() -> None:
    def body(x, out, N, i, j):
        out[i, j] = np.float32(2) * x[i, j] + np.float16(1) + np.int32(3)

    written(body)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("(x f32[N]) -> ()", r"f: header '\(x f32\[N\]\) -> \(\)', column 4: expected ':', got 'f32' "),
        ("(x: f32[N], k: f32 = 1.0) -> ()", r"column 20: .*got '=' \(defaults, .* belong in signature=\)"),
        ("(x: f32[*S]) -> ()", r"column 9: any number of dimensions is written as a name .*\[N...\]"),
        ("(x: f32[N],\n k f32[N]) -> ()", r"f: header '[^']*', line 2, column 4: expected ':', got 'f32' \(defaults"),
        ("(x: f32[N + 1]) -> ()", r", column 9: no parameter binds 'N'"),
        ("(x: f32[N])", r", column 12: expected '->', got the end"),
        ("(x: f32[N]) -> () {}", r", column 19: expected the end of the header, got '{'"),
        ('(x: f32[N]) -> () grad "g"', r", column 19: expected the end of the header, got 'grad'"),
        ("func f(x: f32[N]) -> ()", r", column 1: expected '\(', got 'func'"),
    ],
)
def test_columns_are_those_of_the_header(header: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ir.func(header, name="f")(lambda: None)


def test_what_fails_in_a_header_names_the_line_of_the_author() -> None:
    with pytest.raises(ValueError, match="column 4: expected") as raised:
        ir.func("(x f32[N]) -> ()", name="f")(lambda: None)
    line = inspect.currentframe().f_lineno - 1
    assert str(raised.value).startswith(f"{__file__}, line {line}: f: header ")


@pytest.mark.parametrize("name", ["for", "two words", "f(x: f32[N]) -> () {} func g"])
def test_a_function_needs_a_name_of_its_own(name: str) -> None:
    with pytest.raises(ValueError, match=rf"'{re.escape(name)}' isn't a valid function name"):
        ir.func("(x: f32[N]) -> ()", name=name)(lambda: None)
