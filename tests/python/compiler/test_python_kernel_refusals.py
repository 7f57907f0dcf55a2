"""A construct that a kernel in plain Python can't have is a KernelError that names the place, says what to write, and underlines it."""

from __future__ import annotations

import importlib.util
import itertools
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
import kernpack_compiler as kc
from kernpack_compiler import KernelError

HEAD = """\
import builtins
import math
from math import exp, inf

import numpy as np

import kernpack_compiler as kc
from kernpack_compiler.lang import *

TAPS = (1.0, 2.0, 1.0)
TABLE = np.ones(3, np.float32)


def twice(v):
    return twice(v) * 2


def early(v):
    if v > 0:
        return v
    return -v


def bump(memory):
    memory[0] = memory[0] + 1
    return memory[0]


def loops(v):
    s = 0.0
    for i in range(3):
        s += v
    return s


"""
KERNEL = 'def f(x: f32["N"], y: f64["N"], t: f32["N", "D"], h: f16["N"], k: i64, cond: bool_) -> f32["N"]:\n'
LOOP = "for i in range(N):\n    "
_numbers = itertools.count()


def load(folder: Path, source: str, name: str = "") -> ModuleType:
    """The module of a file that the test writes."""
    name = name or f"bad_{next(_numbers)}"
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def refusal(folder: Path, source: str) -> str:
    with pytest.raises(KernelError) as caught:
        load(folder, source)
    return str(caught.value)


def underlined(path: Path, source: str, marked: str, message: str) -> str:
    """The whole text of an error about the part of the last lines that `marked` is."""
    lines = source.split("\n")
    number = max(n for n, line in enumerate(lines, 1) if marked in line)
    line = lines[number - 1]
    column = line.index(marked)
    indent = len(line) - len(line.lstrip())
    marks = " " * (column - indent) + "^" * len(marked)
    return f"{path}, line {number}, column {column + 1}: {message}\n    {line.strip()}\n    {marks}"


# The body of a kernel, what is underlined, what is said.
CONSTRUCTS = [
    ("i = 0\nwhile i < N:\n    i += 1\nelse:\n    i = 0", "i = 0", "`else` of a loop: write it after the loop"),
    (LOOP + "pass\nelse:\n    out[0] = 1.0", "out[0] = 1.0", "`else` of a loop: write it after the loop"),
    ("with open(x):\n    pass", "with open(x):", "`with`: a kernel opens nothing; loops are `for`, branches are `if`"),
    (
        "try:\n    pass\nfinally:\n    pass",
        "try:",
        "`try`: a kernel catches nothing; test the condition with `if` before",
    ),
    (
        "raise ValueError(1)",
        "raise ValueError(1)",
        '`raise`: write `assert condition, "message"`, which is a ValueError of the call',
    ),
    (
        "def inner(): pass",
        "def inner(): pass",
        "a function inside a kernel: define the helper before the kernel, outside of it",
    ),
    ("class A: pass", "class A: pass", "`class`: a kernel has numbers and tensors only"),
    ("import os", "import os", "`import`: import modules before the kernel, outside of it"),
    (
        "global TAPS",
        "global TAPS",
        "`global`: a kernel changes no Python variable; write into a result, out[i] = value",
    ),
    ("del x", "del x", "`del`: variables of a kernel end with their block"),
    (
        "g = lambda v: v",
        "lambda v: v",
        "`lambda`: define a helper with `def` before the kernel",
    ),
    (
        "a = [x[i] for i in range(3)]",
        "[x[i] for i in range(3)]",
        "a list: write a loop that stores into `local(f32[n])`, or sum(... for j in range(n))",
    ),
    ("a = {1: 2}", "{1: 2}", "a dict: a kernel has numbers and tensors only"),
    ("a = {1, 2}", "{1, 2}", "a set: a kernel has numbers and tensors only"),
    ('a = f"{k}"', 'f"{k}"', "an f-string: a kernel has no text; call kernel.python(...) and look at values in pdb"),
    ('a = "text"', '"text"', "a text: a kernel has numbers and tensors only"),
    ("a = 1j", "1j", "a complex number: write its real and imaginary parts as two tensors"),
    ("yield x", "yield x", "`yield`: a kernel writes its results, out[i] = value"),
    ("out[(a := 0)] = 1.0", "a := 0", "`:=`: assign the variable in a line of its own"),
    ("a = max(*TAPS)", "*TAPS", "`*`: write the arguments one by one"),
    ("a = max(1, **k)", "**k", "`**`: write the arguments one by one"),
    ("match k:\n    case 1: pass", "match k:", "`match`: write `if` and `elif`"),
    (
        "a = t @ t",
        "t @ t",
        "`@`: a kernel has no product of matrices; write sum(a[i, k] * b[k, j] for k in range(K))",
    ),
    (
        "a = t[0, :]",
        ":",
        "a slice: a kernel reads and writes one element at a time, x[i, j]; write a loop",
    ),
    (
        "a = t[0, ...]",
        "...",
        "`...`: a kernel reads and writes one element at a time, x[i, j]; write a loop",
    ),
    ("a = k in (1, 2)", "k in (1, 2)", "`in`: a kernel compares numbers; write comparisons, joined by `or`"),
    ("a = k is None", "k is None", "`is`: a kernel compares numbers; write `==`"),
    (
        "return x",
        "return x",
        "`return`: a kernel writes its results, out[i] = value; put what follows under an `if`",
    ),
    ("a: f32", "a: f32", "give the variable a value: a kernel has no declarations"),
    ("k.real = 1", "k.real", "an attribute: a kernel writes elements, out[i] = value, and variables"),
    (
        "out = x[0]",
        "out",
        "`out` is a tensor of the contract: write its elements, out[i] = value",
    ),
    ("N = 3", "N", "`N` is a dim of the contract: give the variable another name"),
    (LOOP + "i = i + 1", "i", "`i` counts a loop, which can't change it: give the new value another name"),
    (
        LOOP + "for i in range(3):\n        pass",
        "i",
        "`i` has a value already: give this loop another name",
    ),
    ("assert k > 0, cond", "cond", 'expected a text, as in assert n > 0, "n must be positive"'),
]

VALUES = [
    ("out[0] = x[0] / N", "x[0] / N", "`/`: f32 and i64 don't mix: convert one side, such as f32(...)"),
    ("out[0] = x[0] + y[0]", "x[0] + y[0]", "`+`: f32 and f64 don't mix: convert one side, such as f64(...)"),
    ("out[0] = h[0] * 2", "h[0] * 2", "`*`: f16 is for storage: convert it, f32(...)"),
    ("out[0] = x[0] // 2", "x[0] // 2", "`//` is for integers, got f32: write math.floor(a / b)"),
    ("out[0] = math.exp(k)", "math.exp(k)", "exp(): i64 isn't a float: convert it, f32(...)"),
    ("out[0] = k", "out[0] = k", "`out` is f32, and gets i64: convert it, f32(...)"),
    ("out[0] = y[0]", "out[0] = y[0]", "`out` is f32, and gets f64: convert it, f32(...)"),
    (LOOP + "s += x[i]", "s", "`s` has no value yet: assign it before, such as `s = 0.0`"),
    (
        LOOP + "s = x[i]\nout[0] = s",
        "s",
        "`s` has a value only inside the loop on line {loop}: assign it before, such as `s = 0.0`",
    ),
    (LOOP + "pass\nout[i] = 1.0", "i", "`i` counts the loop on line {loop}, and has no value after it"),
    (
        "if k > 0:\n    s = 1.0\nout[0] = s",
        "s",
        "`s` has a value only inside the branch of line {loop}: assign it before, such as `s = 0.0`",
    ),
    (
        LOOP + "out[i] = missing",
        "missing",
        "`missing` isn't defined: the contract has x, y, t, h, k, cond, out, N, D, and other names need a value before the kernel "
        "is made (helpers stand above it)",
    ),
    (
        "s = 0\n" + LOOP + "s = s + i * 0 + 1\n    out[i] = f32(s)\n    s = x[i]",
        "s = x[i]",
        "`s` is i64, as it begins with the number 0, and gets f32: write `s: f32 = 0.0` there",
    ),
    (
        "s = x[0]\n" + LOOP + "s = y[i]",
        "s = y[i]",
        "`s` is f32, and gets f64: convert it, f32(...)",
    ),
    ("s: f32 = y[0]", "s: f32 = y[0]", "`s` is f32, and gets f64: convert it, f32(...)"),
    ("s: k = 0.0", "s: k = 0.0", "`s`: expected a type of elements such as f32 or i64, got <ir.Expr i64: k>"),
    ("out[0] = t[3]", "t[3]", "`t`: expected 2 indices, got 1: a kernel reads and writes one element"),
    ("out[0] = x[-1]", "x[-1]", "`x`: index 0: -1 counts from the end; write the extent and minus, as in N - 1"),
    ("out[0] = x[x[0]]", "x[x[0]]", "`x`: index 0: expected an integer, got a number of f32"),
    ("out[0] = x", "out[0] = x", "`out` holds numbers, got the tensor `x`: read an element of it, x[i]"),
    (
        "out[0] = TABLE[k]",
        "TABLE[k]",
        "expected a tensor before [...], got an array of numpy: pass it to the kernel as an argument",
    ),
    (
        "out[0] = TAPS[k]",
        "TAPS[k]",
        "a tuple or list of Python is indexed by known numbers; loop over it, `for value in values:`, or store its numbers "
        "into `local(f32[n])`",
    ),
    ("out[0] = k[0]", "k[0]", "expected a tensor before [...], got a number of i64"),
    (
        "out[0] = x.sum()",
        "x.sum",
        "`x.sum`: a kernel reads elements, x[i]; write a loop, or sum(x[i] for i in range(n))",
    ),
    ("if x:\n    out[0] = 1.0", "if x", "expected a condition, got the tensor `x`: read an element of it, x[i]"),
    ("x[0] = 1.0", "x[0] = 1.0", "`x` is an input: to write to it, annotate it as `x: inout(...)`"),
    ("a, b = k", "a, b = k", "expected 2 values, got a number of i64"),
    ("a, b = 1, 2, 3", "a, b = 1, 2, 3", "expected 2 values, got 3"),
    ("assert 1 > 2", "assert 1 > 2", "the assertion fails for every call: 1 > 2"),
]

CALLS = [
    (
        LOOP + "print(x[i])",
        "print(x[i])",
        "print(): a kernel has no output; call kernel.python(...) under pdb, and look at the values there",
    ),
    ("out[0] = len(x)", "len(x)", "len(): write the dim from the contract, such as N, or x.shape[0]"),
    (
        "for i, v in enumerate(x):\n    pass",
        "for i, v in enumerate(x)",
        "enumerate(): write `for i in range(n):`, and read x[i]",
    ),
    (
        "for v in x:\n    pass",
        "for v in x",
        "a loop goes over range(n), got the tensor `x`: read an element of it, x[i]",
    ),
    ("for i in range(x[0]):\n    pass", "for i in range(x[0])", None),
    (
        "for i in vectorized(N):\n    pass",
        "for i in vectorized(N)",
        "vectorized(): expected lanes=, the number of iterations at once: vectorized(D, lanes=16)",
    ),
    (
        "for i in range(0, N, k):\n    pass",
        "for i in range(0, N, k)",
        "range(): expected a known number other than 0 as the step",
    ),
    (
        "for i in exp(N):\n    pass",
        "for i in exp(N)",
        "a loop goes over range(), parallel(), vectorized(), unrolled() or launch()",
    ),
    ("a = parallel(N)", "parallel(N)", "parallel() heads a loop: `for i in parallel(...):`"),
    (
        "out[0] = sum(x)",
        "sum(x)",
        "sum(): expected a generator, sum(x[j] for j in range(D)), got the tensor `x`: read an element of it, x[i]",
    ),
    (
        "out[0] = max(x)",
        "max(x)",
        "max(): expected a generator or several numbers, got the tensor `x`: read an element of it, x[i]",
    ),
    (
        "out[0] = max((k, 1), key=abs)",
        "max((k, 1), key=abs)",
        "max(): key=: write argmax(x[i, j] for j in range(n)), or argmin(...), of kernpack_compiler.lang",
    ),
    (
        "for i in parallel(N):\n    if x[i] > 0:\n        break",
        "break",
        "`break` in a loop over parallel(), whose rounds don't run one after another: loop over range(), or write an `if`",
    ),
    (
        "for tap in (1.0, 2.0):\n    if x[0] > tap:\n        continue",
        "continue",
        "`continue` in a loop over values of Python, whose rounds don't run one after another: loop over range(), or write an `if`",
    ),
    (
        "out[0] = f32(argmax(x[i] for i in range(1, N)))",
        "range(1, N)",
        "argmax() counts from 0: write range(n), and add the first index to the result",
    ),
    (
        "out[0] = f32(argmax(x[i] for i in range(N) for j in range(2)))",
        "range(2)",
        "argmax() goes over one axis: write a loop over the others",
    ),
    (
        "out[0] = f32(argmin(x[i] for i in range(N) if x[i] > 0))",
        "x[i] > 0",
        "argmax() and argmin() take all elements of one axis: write the loop, with an `if`",
    ),
    (
        "out[0] = np.argmax(x)",
        "np.argmax(x)",
        "argmax(): write argmax(x[i, j] for j in range(n)), or argmin(...), of kernpack_compiler.lang",
    ),
    (
        "out[0] = np.sum(x)",
        "np.sum(x)",
        "sum() of numpy works on whole arrays; a kernel works on elements: write a loop, or sum(x[i, j] for j in range(D)), "
        "and functions of math",
    ),
    (
        "out[0] = math.gamma(x[0])",
        "math.gamma(x[0])",
        "math.gamma(): a kernel has exp, log, sqrt, pow, tanh, erf, sin, cos, floor, ceil, fabs, isnan, isinf, isfinite "
        "and prod of math; write it with these",
    ),
    ("out[0] = exp(x)", "exp(x)", "exp(): expected a number, got the tensor `x`: read an element of it, x[i]"),
    ("out[0] = f32(x)", "f32(x)", "f32(): expected a number, got the tensor `x`: read an element of it, x[i]"),
    ("a = local(3)", "local(3)", "local(): expected a type with extents, such as local(f32[8])"),
    ("a = sorted(x)", "sorted(x)", "sorted(): write the loops of a sort over `local(f32[n])`"),
    ("a = dir(x)", "dir(x)", "dir(): a kernel can't call this function of Python; it takes numbers only"),
    (
        "out[0] = sum(x[j] for j in parallel(N))",
        "parallel(N)",
        "a generator goes over range(); loops that are parallel, vectorized or unrolled are statements",
    ),
    (
        "out[0] = exp(x[j] for j in range(N))",
        "exp(x[j] for j in range(N))",
        "a generator goes into sum(), math.prod(), max(), min(), argmax(), argmin(), any() or all(), which take nothing else",
    ),
    (
        "out[0] = out[0] + bump(out)",
        "memory[0] = memory[0] + 1",
        "`out` is written by a helper that is called inside an expression, which may read it before or after: call the helper in "
        "a line of its own",
    ),
    (
        "out[0] = sum(loops(x[j]) for j in range(N))",
        None,
        "`s`, which changes in a loop or a branch, inside sum() or the like: the value of a generator, and helpers that it calls, "
        "are expressions; write the sum as a loop instead",
    ),
]


@pytest.mark.parametrize(("body", "marked", "message"), [*CONSTRUCTS, *VALUES, *CALLS])
def test_what_a_kernel_cannot_have_is_underlined(
    body: str, marked: str | None, message: str | None, tmp_path: Path
) -> None:
    source = f"{HEAD}@kc.kernel\n{KERNEL}{textwrap.indent(body, '    ')}\n"
    first = source.split("\n").index(KERNEL.strip()) + 2
    found = refusal(tmp_path, source)
    path = next(tmp_path.glob("bad_*.py"))
    if message is None:  # the IR's own words
        message = found.partition(": ")[2].partition("\n")[0]
        assert message
    message = message.replace("{loop}", str(first))
    if marked is None or marked.startswith("memory"):  # in the helper, and what called it
        marked = marked or "s = 0.0"
        called = f"\n  called by f, {path}, line {first}"
        assert found == underlined(path, HEAD, marked, message) + called
        return
    assert found == underlined(path, source, marked, message)


# The header of a kernel, what is underlined, what is said.
CONTRACTS = [
    ("def f(x):", "x", '`x` has no type: annotate it, x: f32["N", "D"] for a tensor or x: f32 for a number'),
    ('def f(x: f32["N"]):', "def f", 'f has no result: write `-> f32["N", "D"]`, which the body writes as out[i, j]'),
    ("def f(x: i64) -> f32:", "f32", 'out: a result is a tensor, such as f32["N"], or f32[1] for one number; got f32'),
    ('def f(x: float) -> f32["N"]:', "float", "`float`: say which type the kernel computes with, f32 or f64"),
    ('def f(x: int) -> f32["N"]:', "int", "`int`: say which type the kernel computes with, i64 or i32"),
    (
        'def f(x: np.ndarray) -> f32["N"]:',
        "np.ndarray",
        'expected a type such as f32["N", "D"], f32 or inout(f32["N"]), or a dict of named results; got '
        "<class 'numpy.ndarray'>",
    ),
    ('def f(*x: f32["N"]) -> f32["N"]:', 'x: f32["N"]', "`*x`: a contract names every parameter"),
    ('def f(x: f32["N"] = 1) -> f32["N"]:', 'x: f32["N"]', "`x`: a tensor has no default value"),
    ('def f(x: f32 = "a") -> f32[1]:', "x: f32", "`x`: expected a number as the default, got 'a'"),
    ('def f(x: {"a": f32}) -> f32["N"]:', 'x: {"a": f32}', "`x`: a parameter is one tensor or number, got a dict"),
    ('def f(x: f32["N"]) -> {1: f32["N"]}:', '{1: f32["N"]}', "expected names of results, got 1"),
    (
        'def f(x: f32["N"]) -> {"x": f32["N"]}:',
        '{"x": f32["N"]}',
        "`x` names a parameter and a result: give the result another name",
    ),
    (
        'def f(X: f32["N"]) -> f32["N"]:',
        'X: f32["N"]',
        "`X`: parameters and results are in lower case; dims begin with a capital letter",
    ),
    (
        'def f(x: f32["n"]) -> f32[1]:',
        'x: f32["n"]',
        '`n`: a dim begins with a capital letter, "N", or is an integer parameter',
    ),
    (
        'def f(x: f32["N"]) -> f32["M"]:',
        'f32["M"]',
        '`M` has no value: a parameter has to have it as an extent by itself; instead of "M // 2" in a parameter, call the half '
        'E, and write "2 * E" and "E"',
    ),
    (
        'def f(x: f32["N / 2"]) -> f32[1]:',
        'f32["N / 2"]',
        "'N / 2': an extent is a number, the name of a dim, or text such as \"2 * E\", with + - * // % and min() and max()",
    ),
    (
        "def f(x: f32[1.5]) -> f32[1]:",
        "f32[1.5]",
        '1.5: an extent is a number, the name of a dim, or text such as "2 * E", with + - * // % and min() and max()',
    ),
]


@pytest.mark.parametrize(("header", "marked", "message"), CONTRACTS)
def test_what_a_contract_cannot_have_is_underlined(header: str, marked: str, message: str, tmp_path: Path) -> None:
    source = f"{HEAD}@kc.kernel\n{header}\n    out[0] = 1.0\n"
    found = refusal(tmp_path, source)
    path = next(tmp_path.glob("bad_*.py"))
    if marked == "def f":
        marked = header
    assert found == underlined(path, source, marked, message)


# A body, what is underlined when the kernel is built, what is said.
VERIFIED = [
    (LOOP + "out[i] = x[i + 1]", "out[i] = x[i + 1]", "f: access past the end of dimension 0 of 'x'"),
    (
        "for i in parallel(N):\n    out[0] = x[i]",
        "for i in parallel(N)",
        "f: iterations of the parallel loop",
    ),
    (
        "for block, thread in launch(grid=1, block=4):\n    if thread.x > 1:\n        barrier()",
        "barrier()",
        "f: a barrier inside",
    ),
]


def test_what_the_verifier_finds_is_underlined(tmp_path: Path) -> None:
    for body, marked, message in VERIFIED:
        source = f"{HEAD}@kc.kernel\n{KERNEL}{textwrap.indent(body, '    ')}\n"
        module = load(tmp_path, source)
        with pytest.raises(KernelError) as caught:
            module.f.build("c")
        path = module.__file__
        assert message in str(caught.value)
        said = str(caught.value).partition("\n")[0].split(": ", 1)[1]
        assert str(caught.value) == underlined(path, source, marked, said)
        assert caught.value.filename == path


def test_a_helper_of_another_file_names_its_own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    helpers = tmp_path / "helpers_elsewhere.py"
    text = "from math import exp\n\n\ndef scaled(v):\n    return exp(v) * 2\n\n\ndef next_of(x, i):\n    t = x[i + 1]\n    return t\n\n\n"
    text += "def stops(v):\n    with v:\n        v = v - 1\n    return v\n"
    helpers.write_text(text)
    importing = "from helpers_elsewhere import *\n" + HEAD

    good = load(tmp_path, f"{importing}@kc.kernel\n{KERNEL}    for i in range(N):\n        out[i] = scaled(x[i])\n")
    assert "exp(v) * 2.0" in str(good.f.func)

    mixed = f"{importing}@kc.kernel\n{KERNEL}    for i in range(N):\n        out[i] = scaled(x)\n"
    found, line = refusal(tmp_path, mixed), mixed.count("\n")
    caller = sorted(tmp_path.glob("bad_*.py"), key=lambda path: path.stat().st_mtime_ns)[-1]
    said = "exp(): expected a number, got the tensor `x`: read an element of it, x[i]"
    assert found == underlined(helpers, text, "exp(v)", said) + f"\n  called by f, {caller}, line {line}"

    looping = f"{importing}@kc.kernel\n{KERNEL}    for i in range(N):\n        out[i] = stops(x[i])\n"
    found = refusal(tmp_path, looping)
    assert found.startswith(f"{helpers}, line 14, column 5: `with`: a kernel opens nothing")
    assert f"\n  called by f, {tmp_path}" in found

    late = load(tmp_path, f"{importing}@kc.kernel\n{KERNEL}    for i in range(N):\n        out[i] = next_of(x, i)\n")
    with pytest.raises(KernelError) as caught:
        late.f.build("c")
    assert str(caught.value) == underlined(
        helpers, text, "t = x[i + 1]", str(caught.value).partition("\n")[0].split(": ", 1)[1]
    )
    assert "f: access past the end of dimension 0 of 'x'" in str(caught.value)


@pytest.mark.parametrize(
    ("call", "marked", "message"),
    [
        ("twice(x[0])", "twice(v)", "twice() calls itself: a kernel has no recursion; write a loop"),
        ("f(x)", "f(x)", "f() calls itself: a kernel has no recursion; write a loop"),
        (
            "early(x[0])",
            "return v",
            "`return` before the end of a helper: write one at its end, `return a if condition else b`",
        ),
    ],
)
def test_recursion_and_early_returns(call: str, marked: str, message: str, tmp_path: Path) -> None:
    source = f"{HEAD}@kc.kernel\n{KERNEL}    out[0] = {call}\n"
    found = refusal(tmp_path, source)
    path = next(tmp_path.glob("bad_*.py"))
    where = source if marked == "f(x)" else HEAD[: HEAD.index("def loops")]
    where = where if marked != "twice(v)" else HEAD[: HEAD.index("def early")].replace("def twice(v)", "def")
    said = underlined(path, where, marked, message)
    assert found.split("\n")[0] == said.split("\n")[0]
    assert found.split("\n")[2] == said.split("\n")[2]


def test_umlauts_and_tabs_are_underlined_in_place(tmp_path: Path) -> None:
    source = f'{HEAD}@kc.kernel\n{KERNEL}\tgröße = 1.0; out[0] = x["ä"]\n'
    found = refusal(tmp_path, source)
    column = source.split("\n")[-2].index('"ä"') + 1
    assert (
        f', column {column}: a text: a kernel has numbers and tensors only\n    größe = 1.0; out[0] = x["ä"]\n' in found
    )
    assert found.endswith("\n    " + " " * (column - 2) + "^^^")


def test_functions_that_are_no_kernels() -> None:
    with pytest.raises(
        TypeError, match="kernel: expected a function written with `def`, got builtin_function_or_method"
    ):
        kc.kernel(len)
    with pytest.raises(KernelError, match="`lambda`: write a helper of a kernel as a function with `def`"):
        kc.kernel(lambda x: x)
    space: dict[str, object] = {}
    exec("def f(x): pass", space)
    with pytest.raises(KernelError, match="expected a function whose source is in a file or in a cell of a notebook"):
        kc.kernel(space["f"])
    with pytest.raises(TypeError, match="kernel: grad: expected the kernel of the gradient, got str"):
        kc.kernel(grad="g")(load)


def test_kernels_of_kernels(tmp_path: Path) -> None:
    source = (
        f"{HEAD}@kc.kernel\n{KERNEL}    out[0] = 1.0\n\n\n@kc.kernel\n{KERNEL.replace('def f', 'def g')}    f(x, out)\n"
    )
    found = refusal(tmp_path, source)
    path = next(tmp_path.glob("bad_*.py"))
    message = "f(): a kernel can't call a kernel; make a function of what both need"
    assert found == underlined(path, source, "f(x, out)", message)
    module = load(tmp_path, f"{HEAD}@kc.kernel\n{KERNEL}    out[0] = 1.0\n")
    with pytest.raises(TypeError, match="kernel: f is a kernel already"):
        kc.kernel(module.f)


def test_other_errors_of_a_build_stay(tmp_path: Path) -> None:
    module = load(tmp_path, f"{HEAD}@kc.kernel\n{KERNEL}    out[0] = 1.0\n")
    with pytest.raises(ValueError, match="has no option 'mcppu'"):
        module.f.build("c -mcppu=x")
