"""Functions that the tests' programs call: generated ones, for the CPU and for OpenCL, and a foreign one."""

from __future__ import annotations

import numpy as np
from kernpack_compiler import ir, program

ROWS, WIDTH = 4, 6


@ir.func("(x: f32[N, D], y: f32[N, D]) -> (out: f32[N, D])")
def add(x, y, out, N, D):
    with ir.serial(N) as i, ir.serial(D) as j:
        out[i, j] = x[i, j] + y[i, j]


@ir.func(
    "(x: f32[N, D], by: f32) -> (out: f32[N, D])", signature="(x: f32[N, D], *, by: float = 2.0) -> (out: f32[N, D])"
)
def scale(x, by, out, N, D):
    with ir.serial(N) as i, ir.serial(D) as j:
        out[i, j] = x[i, j] * by


@ir.func("(x: f32[N, D]) -> (low: f32[N, D], high: f32[N, D])")
def split(x, low, high, N, D):
    with ir.serial(N) as i, ir.serial(D) as j:
        low[i, j] = ir.min(x[i, j], 0.0)
        high[i, j] = ir.max(x[i, j], 0.0)


@ir.func("(x: f32[N, D]) -> (out: bool[])")
def any_negative(x, out, N, D):
    out[()] = ir.reduce("min", N, lambda i: ir.reduce("min", D, lambda j: x[i, j])) < 0.0


@program.foreign("tests.halve", "(x: f32[...]) -> (out: f32[...])")
def halve(x, out):
    np.divide(x.numpy(), 2, out=out.numpy())


MODULE = ir.IRModule([add, scale, split, any_negative], "sample")
TENSOR = program.Spec((ROWS, WIDTH), "f32")


def rows() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((ROWS, WIDTH)).astype(np.float32)
