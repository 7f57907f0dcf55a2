"""Loops that run in strips, compiled: an online softmax has the bits that the interpreter gives for the same arithmetic without strips."""

from __future__ import annotations

import math
from math import exp
from typing import Any

import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
import kernpack_compiler as kc
from kernpack_compiler import ir
from kernpack_compiler.lang import f32, i64
from support.online_softmax import causal


@kc.kernel
def window(q: f32["B", "S", "D"], k: f32["B", "S", "D"], v: f32["B", "S", "D"], *, w: i64 = 5) -> f32["B", "S", "D"]:
    for b in range(B):
        for i in range(S):
            largest = -math.inf
            total = 0.0
            for d in range(D):
                out[b, i, d] = 0.0
            for t in range(S):
                if t <= i and (t == 0 or t > i - w):
                    score = sum(q[b, i, d] * k[b, t, d] for d in range(D))
                    new = max(largest, score)
                    scale, p = exp(largest - new), exp(score - new)
                    total = total * scale + p
                    for d in range(D):
                        out[b, i, d] = out[b, i, d] * scale + p * v[b, t, d]
                    largest = new
            for d in range(D):
                out[b, i, d] /= total


@kc.kernel
def fading(x: f32["N"]) -> {"sums": f32["N"], "squashed": f32["N"]}:
    level = 0.5
    for n in range(N):
        squashed[n] = math.tanh(level - x[n])
        level = level * 0.75 + exp(x[n])
        sums[n] = level


def _targets() -> list[str]:
    exact = " -fast-math-contract=0"
    host = str(kc.Target.from_device("cpu")) + exact
    return [host, "llvm -mcpu=x86-64-v2" + exact, "c -mcpu=x86-64-v2" + exact]


@pytest.mark.parametrize("target", range(3), ids=["host", "llvm", "c"])
@pytest.mark.parametrize("kernel", [causal, window, fading], ids=["causal", "window", "fading"])
def test_strips_give_the_bits_of_the_interpreter(kernel: Any, target: int) -> None:
    if not {"llvm", "c"} <= set(kc.list_generators()):
        pytest.skip("this build has no generator of kind llvm or c")
    built = getattr(kc.build(kernel.module, _targets()[target]), kernel.func.name)
    assert "_strip" in str(ir.schedule_by_default(kernel.module, _targets()[target]))
    random = np.random.default_rng(0)
    shapes = [(200,), (64,), (3,)] if kernel is fading else [(1, 68, 17), (2, 5, 20)]
    for shape in shapes:
        given = random.standard_normal((1 if kernel is fading else 3, *shape), dtype=np.float32)
        wanted, got = ir.interpret(ir.lower(kernel.module), kernel.func.name, *given, *_more(kernel)), built(*given)
        for one, other in zip(_all(wanted), _all(got), strict=True):
            np.testing.assert_array_equal(np.asarray(one).view(np.int32), np.asarray(other).view(np.int32))


def _more(kernel: Any) -> tuple[int, ...]:
    return (5,) if kernel is window else ()


def _all(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)
