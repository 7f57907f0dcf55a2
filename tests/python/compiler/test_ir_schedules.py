"""Stage programs and schedules from Python: what runs differently computes the same."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
import kernpack_compiler as kc
from kernpack_compiler import ir

A = np.random.default_rng(0).integers(-4, 5, (5, 7)).astype(np.float32)
B = np.random.default_rng(1).integers(-4, 5, (7, 40)).astype(np.float32)


def matmul() -> ir.StageProgram:
    p = ir.StageProgram("matmul")
    m, n, k = (p.dim(name) for name in ("M", "N", "K"))
    a, b = p.input("a", "f32", (m, k)), p.input("b", "f32", (k, n))
    o = p.reduce("o", "+", (m, n), (k,), lambda i, j, r: a[i, r] * b[r, j], order="sequential")
    p.result(o)
    return p


def run(function: ir.PrimFunc) -> np.ndarray:
    return ir.interpret(ir.IRModule([function]), function, A, B)


def test_a_schedule_changes_no_result() -> None:
    s = ir.Schedule(matmul())
    np.testing.assert_array_equal(run(s.lower()), A @ B)
    assert s.axes("o") == ["i", "j", "k"]
    assert s.cache_write("o") == "o_local"
    assert s.split("o", "j", 16) == ("j_o", "j_i")
    s.reorder("o", ["j_o", "i", "j_i"])
    s.compute_at("o_local", "o", "i")
    s.reorder("o_local", ["k", "i", "j"])
    s.vectorize("o_local", "j", 8)
    s.parallel("o", "j_o")
    scheduled = s.lower()
    assert "parallel" in str(scheduled)
    assert "vectorized(8)" in str(scheduled)
    np.testing.assert_array_equal(run(scheduled), A @ B)
    np.testing.assert_array_equal(kc.build(scheduled, "c").matmul(A, B), A @ B)

    again = ir.Schedule(matmul())
    again.replay(s.trace)
    assert again.lower() == scheduled


def test_stages_follow_each_other() -> None:
    p = ir.StageProgram("centred")
    n, d = p.dim("N"), p.dim("D")
    x, k = p.input("x", "f32", (n, d)), p.scalar("k", "f32")
    total = p.reduce("total", "+", (n,), (d,), lambda i, j: x[i, j], order=4)
    p.result(p.compute("y", (n, d), lambda i, j: k * (x[i, j] - total[i] / ir.f32(d))))
    function = ir.Schedule(p).lower()
    expected = 2 * (A - A.mean(1, keepdims=True))
    np.testing.assert_allclose(ir.interpret(ir.IRModule([function]), function, A, 2.0), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.parallel("o", "k"), "parallel: stage 'o', axis 'k': it is a reduction axis"),
        (lambda s: s.split("o", "j", 0), "split: stage 'o', axis 'j'"),
        (lambda s: s.split("o", "j", 8, tail="none"), "tail: expected 'peeled' or 'masked', got 'none'"),
        (lambda s: s.unroll("p", "j"), "'p'"),
        (lambda s: s.replay("spin(o, i)"), "line 1: "),
    ],
)
def test_illegal_primitives(change, message: str) -> None:
    s = ir.Schedule(matmul())
    with pytest.raises(ValueError, match=message):
        change(s)
    assert s.trace == ""


def test_a_program_needs_a_result() -> None:
    with pytest.raises(ValueError, match="result"):
        ir.Schedule(ir.StageProgram("empty"))
    p = matmul()
    with pytest.raises(ValueError, match="expected a number of partial results or 'sequential', got 'any'"):
        p.reduce("q", "+", (4,), (4,), lambda i, r: ir.f32(1.0), order="any")


COPY = ir.IRModule.parse("func copy(x: f32[N]) -> (y: f32[N]) { for i in 0..N { y[i] = x[i] } }")


def test_plain_loops() -> None:
    split = ir.split_loop(COPY, "copy", "i", 8, tail="masked")
    changed = ir.parallel_loop(split, "copy", "i_o")
    assert "parallel i_o" in str(changed)
    assert "vectorized(8) i" in str(ir.vectorize_loop(COPY, "copy", "i", 8))
    x = np.arange(19, dtype=np.float32)
    for module in (split, changed, ir.schedule_by_default(COPY, "llvm -mcpu=x86-64-v3")):
        np.testing.assert_array_equal(ir.interpret(module, "copy", x), x)
    assert ir.schedule_by_default(COPY, "llvm") != COPY
    with pytest.raises(NameError, match="'q'"):
        ir.unroll_loop(COPY, "copy", "q")
