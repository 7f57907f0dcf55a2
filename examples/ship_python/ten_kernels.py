"""Ten kernels in plain Python, with a gradient for one of them."""

from __future__ import annotations

import math
from math import exp, inf, sqrt

import kernpack_compiler as kc
from kernpack_compiler.lang import bf16, f32, i8, i32, i64, inout, local, parallel, u8, vectorized


@kc.kernel
def softmax_backward(d_out: f32["N", "D"], out: f32["N", "D"]) -> {"d_x": f32["N", "D"]}:
    """The gradient of softmax."""
    for i in parallel(N):
        dot = sum(d_out[i, j] * out[i, j] for j in range(D))
        for j in range(D):
            d_x[i, j] = out[i, j] * (d_out[i, j] - dot)


@kc.kernel(grad=softmax_backward)
def softmax(x: f32["N", "D"]) -> f32["N", "D"]:
    """Softmax of each row."""
    for i in range(N):
        largest = max(x[i, j] for j in range(D))
        total = sum(exp(x[i, j] - largest) for j in range(D))
        for j in range(D):
            out[i, j] = exp(x[i, j] - largest) / total


def gelu(v):
    return 0.5 * v * (1.0 + math.erf(v * 0.70710678))


@kc.kernel
def stencil(x: f32["H", "W"]) -> f32["H", "W"]:
    """GELU of the difference of each element to its four neighbours."""
    for i in range(H):
        for j in range(W):
            left = x[i, j - 1] if j > 0 else 0.0
            right = x[i, j + 1] if j + 1 < W else 0.0
            up = x[i - 1, j] if i > 0 else 0.0
            down = x[i + 1, j] if i + 1 < H else 0.0
            out[i, j] = gelu(4.0 * x[i, j] - left - right - up - down)


@kc.kernel
def attention(
    q: f32["B", "S", "D"], k: f32["B", "T", "D"], v: f32["B", "T", "D"], *, causal: i64 = 0
) -> f32["B", "S", "D"]:
    """Attention with an online softmax: nothing of S x T elements is kept."""
    for b in parallel(B):
        for i in parallel(S):
            largest = -inf
            total = 0.0
            for d in range(D):
                out[b, i, d] = 0.0
            for t in range(T):
                if causal == 0 or t <= i + T - S:
                    score = sum(q[b, i, d] * k[b, t, d] for d in range(D)) / sqrt(f32(D))
                    new = max(largest, score)
                    scale = exp(largest - new)
                    p = exp(score - new)
                    total = total * scale + p
                    for d in range(D):
                        out[b, i, d] = out[b, i, d] * scale + p * v[b, t, d]
                    largest = new
            for d in range(D):
                out[b, i, d] /= total


K = 4


@kc.kernel
def topk(x: f32["N", "D"]) -> {"values": f32["N", K], "indices": i64["N", K]}:
    """The largest four elements of each row and where they are, in descending order."""
    for i in parallel(N):
        best, at = local(f32[K]), local(i64[K])
        for s in range(K):
            best[s], at[s] = -inf, -1
        for j in range(D):
            if x[i, j] > best[K - 1]:
                best[K - 1], at[K - 1] = x[i, j], j
                for s in range(K - 2, -1, -1):
                    if best[s] < best[s + 1]:
                        best[s], best[s + 1] = best[s + 1], best[s]
                        at[s], at[s + 1] = at[s + 1], at[s]
        for s in range(K):
            values[i, s], indices[i, s] = best[s], at[s]


@kc.kernel
def conv2d(x: f32["B", "H", "W", "C"], w: f32[3, 3, "C", "O"]) -> f32["B", "H", "W", "O"]:
    """A convolution of 3 x 3, channels last, with zeros around the image."""
    for b in range(B):
        for i in range(H):
            for j in range(W):
                for o in range(O):
                    out[b, i, j, o] = sum(
                        x[b, i + r - 1, j + s - 1, c] * w[r, s, c, o]
                        for r in range(3)
                        for s in range(3)
                        if 1 <= i + r <= H and 1 <= j + s <= W
                        for c in range(C)
                    )


@kc.kernel
def cumsum(x: f32["N...", "D"], decay: f32 = 1.0) -> f32["N...", "D"]:
    """Running sums of each row, whose older elements fade."""
    for i in parallel(N):
        running = 0.0
        for j in range(D):
            running = running * decay + x[i, j]
            out[i, j] = running


@kc.kernel
def segment_sum(x: f32["N", "D"], segment: i64["N"], total: inout(f32["S", "D"])) -> None:
    """Adds rows to the sums of their segments, in place."""
    for n in range(N):
        assert 0 <= segment[n] < S, "a segment is out of range"
        for d in vectorized(D, lanes=8):
            total[segment[n], d] += x[n, d]


@kc.kernel
def rope(x: f32["S", "H", "2 * E"], cosine: f32["S", "E"], sine: f32["S", "E"]) -> f32["S", "H", "2 * E"]:
    """Rotary embedding of halves."""
    for s in parallel(S):
        for h in range(H):
            for e in vectorized(E, lanes=8):
                a, b = x[s, h, e], x[s, h, e + E]
                out[s, h, e] = a * cosine[s, e] - b * sine[s, e]
                out[s, h, e + E] = a * sine[s, e] + b * cosine[s, e]


@kc.kernel
def int8_product(a: i8["M", "K"], b: i8["N", "K"], scale: f32["M"]) -> bf16["M", "N"]:
    """A product of int8 matrices with a scale for each row."""
    for i in range(M):
        for j in range(N):
            product = sum(i32(a[i, k]) * i32(b[j, k]) for k in range(K))
            out[i, j] = bf16(f32(product) * scale[i])


@kc.kernel
def histogram(x: u8["N"]) -> i64[16]:
    """How many bytes are in each sixteenth of their range."""
    for b in range(16):
        out[b] = 0
    for n in range(N):
        out[i64(x[n]) // 16] += 1


KERNELS = (softmax, stencil, attention, topk, conv2d, cumsum, segment_sum, rope, int8_product, histogram)
