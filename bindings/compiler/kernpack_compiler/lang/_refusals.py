"""Python that kernels don't take, and which words to write instead."""

from __future__ import annotations

import ast
import re

REFUSED: dict[type[ast.AST], str] = {
    ast.With: "`with`: a kernel opens nothing; loops are `for`, branches are `if`",
    ast.AsyncWith: "`async with`: a kernel doesn't wait; loops are `for`, branches are `if`",
    ast.AsyncFor: "`async for`: a kernel doesn't wait; write `for`",
    ast.Await: "`await`: a kernel doesn't wait",
    ast.Try: "`try`: a kernel catches nothing; test the condition with `if` before",
    ast.TryStar: "`try`: a kernel catches nothing; test the condition with `if` before",
    ast.Raise: '`raise`: write `assert condition, "message"`, which is a ValueError of the call',
    ast.FunctionDef: "a function inside a kernel: define the helper before the kernel, outside of it",
    ast.AsyncFunctionDef: "`async def`: define a helper with `def` before the kernel, outside of it",
    ast.ClassDef: "`class`: a kernel has numbers and tensors only",
    ast.Lambda: "`lambda`: define a helper with `def` before the kernel",
    ast.ListComp: "a list: write a loop that stores into `local(f32[n])`, or sum(... for j in range(n))",
    ast.SetComp: "a set: a kernel has numbers and tensors only",
    ast.DictComp: "a dict: a kernel has numbers and tensors only",
    ast.GeneratorExp: "a generator goes into sum(), max(), min(), math.prod(), argmax(), argmin(), any() or all(); otherwise write a loop",
    ast.Dict: "a dict: a kernel has numbers and tensors only",
    ast.Set: "a set: a kernel has numbers and tensors only",
    ast.JoinedStr: "an f-string: a kernel has no text; call kernel.python(...) and look at values in pdb",
    ast.Import: "`import`: import modules before the kernel, outside of it",
    ast.ImportFrom: "`import`: import modules before the kernel, outside of it",
    ast.Global: "`global`: a kernel changes no Python variable; write into a result, out[i] = value",
    ast.Nonlocal: "`nonlocal`: a kernel changes no Python variable; write into a result, out[i] = value",
    ast.Delete: "`del`: variables of a kernel end with their block",
    ast.Yield: "`yield`: a kernel writes its results, out[i] = value",
    ast.YieldFrom: "`yield from`: a kernel writes its results, out[i] = value",
    ast.NamedExpr: "`:=`: assign the variable in a line of its own",
    ast.Starred: "`*`: write the arguments one by one",
    ast.Match: "`match`: write `if` and `elif`",
    ast.MatMult: "`@`: a kernel has no product of matrices; write sum(a[i, k] * b[k, j] for k in range(K))",
    ast.Slice: "a slice: a kernel reads and writes one element at a time, x[i, j]; write a loop",
    ast.In: "`in`: a kernel compares numbers; write comparisons, joined by `or`",
    ast.NotIn: "`not in`: a kernel compares numbers; write comparisons, joined by `and`",
    ast.Is: "`is`: a kernel compares numbers; write `==`",
    ast.IsNot: "`is not`: a kernel compares numbers; write `!=`",
}

# Taken as they are: their parts are rewritten.
PLAIN: tuple[type[ast.AST], ...] = (
    ast.BinOp,
    ast.UnaryOp,
    ast.Tuple,
    ast.List,
    ast.Pass,
    ast.operator,
    ast.unaryop,
    ast.expr_context,
    ast.keyword,
)

FUNCTIONS = {
    "print": "print(): a kernel has no output; call kernel.python(...) under pdb, and look at the values there",
    "breakpoint": "breakpoint(): set it in pdb or an editor, and call kernel.python(...)",
    "len": "len(): write the dim from the contract, such as N, or x.shape[0]",
    "sorted": "sorted(): write the loops of a sort over `local(f32[n])`",
    "enumerate": "enumerate(): write `for i in range(n):`, and read x[i]",
    "zip": "zip(): write `for i in range(n):`, and read x[i] and y[i]",
    "reversed": "reversed(): write `for k in range(n):`, and use n - 1 - k",
    "map": "map(): write a loop",
    "filter": "filter(): write a loop with an `if`",
    "isinstance": "isinstance(): types of a kernel are known from its contract",
    "list": "list(): write `local(f32[n])`, and store into it in a loop",
    "divmod": "divmod(): write a // b and a % b",
}

MATH = (
    "a kernel has exp, log, sqrt, pow, tanh, erf, sin, cos, floor, ceil, fabs, isnan, isinf, isfinite and prod "
    "of math; write it with these"
)

ARRAYS = "works on whole arrays; a kernel works on elements: write a loop, or sum(x[i, j] for j in range(D)), and functions of math"

ARGMAX = "write argmax(x[i, j] for j in range(n)), or argmin(...), of kernpack_compiler.lang"


_MIXED = re.compile(r"^(\S+): expected operands of one type, got (\w+) and (\w+); cast one of them$")
_STORED = re.compile(r"^(\S+): does not take (\w+), a storage type: cast to f32 first$")
_NOT_TAKEN = re.compile(r"^(\w+): does not take (f32|f64|[iu]\d+)$")
_FLOOR = {"floordiv": "//", "floormod": "%"}


def in_words_of_python(message: str) -> str:
    """An error of the IR about types, as the author of a kernel writes its operations."""
    if found := _MIXED.match(message):
        op, a, b = found.groups()
        wider = max(a, b, key=lambda name: (name[0] in "bf", name[1:].isdigit() and int(name[1:])))
        return f"`{_FLOOR.get(op, op)}`: {a} and {b} don't mix: convert one side, such as {wider}(...)"
    if found := _STORED.match(message):
        return f"`{_FLOOR.get(found[1], found[1])}`: {found[2]} is for storage: convert it, f32(...)"
    if found := _NOT_TAKEN.match(message):
        if found[1] in _FLOOR:
            return f"`{_FLOOR[found[1]]}` is for integers, got {found[2]}: write math.floor(a / b)"
        return f"{found[1]}(): {found[2]} isn't a float: convert it, f32(...)"
    return message


def refusal(node: ast.AST) -> str:
    """The text that refuses a construct. A construct that REFUSED doesn't list is named as in Python's grammar."""
    for kind in type(node).__mro__:
        if kind in REFUSED:
            return REFUSED[kind]
    return (
        f"`{type(node).__name__}` of Python's grammar: a kernel has loops, `if`, assignments and expressions of numbers"
    )
