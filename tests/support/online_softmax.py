"""Causal attention with an online softmax, written the obvious way: timed by the benchmarks, and compared to the bit by tests."""

import math
from math import exp, sqrt

import kernpack_compiler as kc
from kernpack_compiler.lang import f32


@kc.kernel
def causal(q: f32["B", "S", "D"], k: f32["B", "S", "D"], v: f32["B", "S", "D"]) -> f32["B", "S", "D"]:
    for b in range(B):
        for i in range(S):
            largest = -math.inf
            total = 0.0
            for d in range(D):
                out[b, i, d] = 0.0
            for t in range(S):
                if t <= i:
                    score = sum(q[b, i, d] * k[b, t, d] for d in range(D)) / sqrt(f32(D))
                    new = max(largest, score)
                    scale, p = exp(largest - new), exp(score - new)
                    total = total * scale + p
                    for d in range(D):
                        out[b, i, d] = out[b, i, d] * scale + p * v[b, t, d]
                    largest = new
            for d in range(D):
                out[b, i, d] /= total
