"""Kernels in plain Python that the tests build, and what they compute in NumPy."""

from __future__ import annotations

import math
from math import exp, inf, sqrt

import kernpack_compiler as kc
import numpy as np
from kernpack_compiler.lang import (
    barrier,
    bf16,
    f32,
    i8,
    i32,
    i64,
    inout,
    launch,
    local,
    parallel,
    shared,
    u8,
    vectorized,
)


@kc.kernel
def softmax_backward(d_out: f32["N", "D"], out: f32["N", "D"]) -> {"d_x": f32["N", "D"]}:
    for i in parallel(N):
        dot = sum(d_out[i, j] * out[i, j] for j in range(D))
        for j in range(D):
            d_x[i, j] = out[i, j] * (d_out[i, j] - dot)


@kc.kernel(grad=softmax_backward)
def softmax(x: f32["N", "D"]) -> f32["N", "D"]:
    """Softmax of each row.

    In f32.
    """
    for i in range(N):
        largest = max(x[i, j] for j in range(D))
        total = sum(exp(x[i, j] - largest) for j in range(D))
        for j in range(D):
            out[i, j] = exp(x[i, j] - largest) / total


def gelu(v):
    return 0.5 * v * (1.0 + math.erf(v * 0.70710678))


@kc.kernel
def stencil(x: f32["H", "W"]) -> f32["H", "W"]:
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
def cumsum(x: f32["N..."], decay: f32) -> f32["N..."]:
    running = 0.0
    for i in range(N):
        running = running * decay + x[i]
        out[i] = running


@kc.kernel
def segment_sum(x: f32["N", "D"], segment: i64["N"], total: inout(f32["S", "D"])) -> None:
    for n in range(N):
        assert 0 <= segment[n] < S, "a segment is out of range"
        for d in vectorized(D, lanes=8):
            total[segment[n], d] += x[n, d]


@kc.kernel
def rope(x: f32["S", "H", "2 * E"], cosine: f32["S", "E"], sine: f32["S", "E"]) -> f32["S", "H", "2 * E"]:
    for s in parallel(S):
        for h in range(H):
            for e in vectorized(E, lanes=8):
                a, b = x[s, h, e], x[s, h, e + E]
                out[s, h, e] = a * cosine[s, e] - b * sine[s, e]
                out[s, h, e + E] = a * sine[s, e] + b * cosine[s, e]


@kc.kernel
def int8_product(a: i8["M", "K"], b: i8["N", "K"], scale: f32["M"]) -> bf16["M", "N"]:
    for i in range(M):
        for j in range(N):
            product = sum(i32(a[i, k]) * i32(b[j, k]) for k in range(K))
            out[i, j] = bf16(f32(product) * scale[i])


@kc.kernel
def histogram(x: u8["N"]) -> i64[16]:
    for b in range(16):
        out[b] = 0
    for n in range(N):
        out[i64(x[n]) // 16] += 1


@kc.kernel
def block_sums(x: f32["N"]) -> f32["(N + 63) // 64"]:
    """The sum of every 64 elements, as a tree of the threads of a block."""
    for block, thread in launch(grid=(N + 63) // 64, block=64):
        part = shared(f32[64])
        i = i64(block.x) * 64 + i64(thread.x)
        part[thread.x] = x[i] if i < N else 0.0
        for distance in (32, 16, 8, 4, 2, 1):
            barrier()
            if thread.x < distance:
                part[thread.x] += part[thread.x + distance]
        if thread.x == 0:
            out[block.x] = part[0]


R = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return R.standard_normal(shape).astype(np.float32)


def softmax_of(x):
    e = np.exp(x.astype("f8") - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def stencil_of(x):
    p = np.pad(x.astype("f8"), 1)
    v = 4 * p[1:-1, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:] - p[:-2, 1:-1] - p[2:, 1:-1]
    return 0.5 * v * (1 + np.vectorize(math.erf)(v * 0.70710678))


def attention_of(q, k, v, causal=0):
    s = np.einsum("bid,btd->bit", q.astype("f8"), k) / math.sqrt(q.shape[-1])
    rows, columns = s.shape[1:]
    seen = np.arange(columns) <= np.arange(rows)[:, None] + columns - rows
    return softmax_of(np.where(seen | (causal == 0), s, -np.inf)) @ v


def topk_of(x):
    at = np.argsort(-x, 1, kind="stable")[:, :K]
    return np.take_along_axis(x, at, 1), at


def conv2d_of(x, w):
    p = np.pad(x.astype("f8"), ((0, 0), (1, 1), (1, 1), (0, 0)))
    h, width = x.shape[1:3]
    return sum(p[:, r : r + h, s : s + width] @ w[r, s].astype("f8") for r in range(3) for s in range(3))


def cumsum_of(x, decay):
    running, sums = 0.0, []
    for value in x.reshape(-1):
        running = running * decay + float(value)
        sums.append(running)
    return np.array(sums).reshape(x.shape)


def segment_sum_of(x, segment, total):
    summed = total.astype("f8")
    np.add.at(summed, segment, x)
    return summed


def rope_of(x, cosine, sine):
    a, b = np.split(x, 2, -1)
    c, s = cosine[:, None], sine[:, None]
    return np.concatenate((a * c - b * s, a * s + b * c), -1)


def int8_product_of(a, b, scale):
    return (a.astype("i4") @ b.T.astype("i4")) * scale[:, None]


def histogram_of(x):
    return np.bincount(x // 16, minlength=16)


def block_sums_of(x):
    return np.add.reduceat(x.astype("f8"), np.arange(0, len(x), 64))


def int8(*shape: int) -> np.ndarray:
    return R.integers(-128, 128, shape).astype(np.int8)


QKV = normal(2, 5, 8), normal(2, 7, 8), normal(2, 7, 8)

# name: (kernel, arguments, what NumPy computes, tolerance)
CASES = {
    "softmax": (softmax, (normal(5, 21),), softmax_of, 1e-6),
    "stencil": (stencil, (normal(6, 9),), stencil_of, 1e-5),
    "attention": (attention, QKV, attention_of, 1e-5),
    "topk": (topk, (normal(6, 30),), topk_of, 0),
    "conv2d": (conv2d, (normal(1, 5, 6, 3), normal(3, 3, 3, 4)), conv2d_of, 1e-5),
    "cumsum": (cumsum, (normal(2, 3, 5), 0.5), cumsum_of, 1e-6),
    "rope": (rope, (normal(3, 2, 20), normal(3, 10), normal(3, 10)), rope_of, 1e-6),
    "int8_product": (int8_product, (int8(4, 33), int8(5, 33), normal(4)), int8_product_of, 1e-2),
    "histogram": (histogram, (R.integers(0, 256, 500).astype(np.uint8),), histogram_of, 0),
}
