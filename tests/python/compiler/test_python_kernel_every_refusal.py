"""Every construct and function of Python that a kernel refuses: each says what to write instead."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
from kernpack_compiler.lang._refusals import FUNCTIONS, REFUSED
from test_python_kernel_refusals import CONSTRUCTS, HEAD, KERNEL, refusal, underlined

# Besides those of CONSTRUCTS.
BODIES = {
    ast.TryStar: ("try:\n        pass\n    except* ValueError:\n        pass", "try:"),
    ast.AsyncFunctionDef: ("async def inner(): pass", "async def inner(): pass"),
    ast.SetComp: ("a = {i for i in range(3)}", "{i for i in range(3)}"),
    ast.DictComp: ("a = {i: i for i in range(3)}", "{i: i for i in range(3)}"),
    ast.GeneratorExp: ("a = (i for i in range(3))", "(i for i in range(3))"),
    ast.ImportFrom: ("from os import path", "from os import path"),
    ast.YieldFrom: ("yield from x", "yield from x"),
    ast.NotIn: ("a = k not in (1, 2)", "k not in (1, 2)"),
    ast.IsNot: ("a = k is not None", "k is not None"),
    ast.Starred: ("a = (*x, 1)", "*x"),
}
# Python itself allows these in `async def` and inside of functions alone.
ELSEWHERE = {ast.AsyncWith, ast.AsyncFor, ast.Await, ast.Nonlocal}


@pytest.mark.parametrize("kind", BODIES)
def test_a_construct_says_what_to_write(kind: type[ast.AST], tmp_path: Path) -> None:
    body, marked = BODIES[kind]
    source = f"{HEAD}@kc.kernel\n{KERNEL}    {body}\n"
    found = refusal(tmp_path, source)
    assert found == underlined(next(tmp_path.glob("bad_*.py")), source, marked, REFUSED[kind])


def test_no_construct_is_without_a_test() -> None:
    written = {type(node) for body, _, _ in CONSTRUCTS for node in ast.walk(ast.parse(body))}
    assert set(REFUSED) - written - set(BODIES) == ELSEWHERE


def test_nonlocal_and_async_kernels(tmp_path: Path) -> None:
    inside = (
        f"{HEAD}def outer():\n    v = 1\n    @kc.kernel\n    {KERNEL}        nonlocal v\n        v = 2\n\nouter()\n"
    )
    assert REFUSED[ast.Nonlocal] in refusal(tmp_path, inside)
    for body in ("async with x: pass", "async for v in x: pass", "await x"):
        found = refusal(tmp_path, f"{HEAD}@kc.kernel\nasync {KERNEL}    {body}\n")
        assert "`async`: a kernel is a plain `def`" in found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_what_to_write(name: str, tmp_path: Path) -> None:
    source = f"{HEAD}@kc.kernel\n{KERNEL}    a = {name}(k)\n"
    found = refusal(tmp_path, source)
    assert found == underlined(next(tmp_path.glob("bad_*.py")), source, f"{name}(k)", FUNCTIONS[name])
