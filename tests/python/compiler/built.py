"""IR functions that the tests build, and what they compute."""

from __future__ import annotations

import numpy as np
from kernpack_compiler import ir


@ir.func("(x: f32[N, D]) -> (y: f32[N, D])", grad="softmax_backward")
def softmax(x, y, N, D):
    with ir.parallel(N) as i:
        m = ir.let(ir.reduce("max", D, lambda j: x[i, j]), "m")
        e = ir.alloc("f32", [D], "workspace", "e")
        with ir.vectorized(D, lanes=8) as j:
            e[j] = ir.exp(x[i, j] - m)
        s = ir.let(ir.sum(D, lambda j: e[j]), "s")
        with ir.vectorized(D, lanes=8) as j:
            y[i, j] = e[j] / s


@ir.func("(d_y: f32[N, D], y: f32[N, D]) -> (d_x: f32[N, D])")
def softmax_backward(d_y, y, d_x, N, D):
    with ir.parallel(N) as i:
        dot = ir.let(ir.sum(D, lambda j: d_y[i, j] * y[i, j]), "dot")
        with ir.vectorized(D, lanes=8) as j:
            d_x[i, j] = y[i, j] * (d_y[i, j] - dot)


@ir.func("(x: f32[N], k: f32) -> (out: f32[N])")
def scale(x, k, out, N):
    with ir.vectorized(N, lanes=8) as i:
        out[i] = x[i] * k


MODULE = ir.IRModule([softmax, softmax_backward, scale], "generated")


def expected_softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def rows(n: int = 4, d: int = 21) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, d)).astype(np.float32)
