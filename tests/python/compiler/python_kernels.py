"""The kernels of examples/ship_python and one that launches, and what they compute in NumPy."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import kernpack_compiler as kc
import numpy as np
from kernpack_compiler.lang import barrier, f32, i64, launch, shared

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "ship_python"))
import ten_kernels
from ten_kernels import (
    K,
    attention,
    conv2d,
    cumsum,
    histogram,
    int8_product,
    rope,
    segment_sum,
    softmax,
    stencil,
    topk,
)

__all__ = [
    "CASES",
    "block_sums",
    "cumsum",
    "expected_block_sums",
    "expected_segment_sum",
    "normal",
    "segment_sum",
    "softmax",
    "ten_kernels",
]


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


def expected_softmax(x):
    e = np.exp(x.astype("f8") - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def expected_stencil(x):
    p = np.pad(x.astype("f8"), 1)
    v = 4 * p[1:-1, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:] - p[:-2, 1:-1] - p[2:, 1:-1]
    return 0.5 * v * (1 + np.vectorize(math.erf)(v * 0.70710678))


def expected_attention(q, k, v, causal=0):
    s = np.einsum("bid,btd->bit", q.astype("f8"), k) / math.sqrt(q.shape[-1])
    rows, columns = s.shape[1:]
    seen = np.arange(columns) <= np.arange(rows)[:, None] + columns - rows
    return expected_softmax(np.where(seen | (causal == 0), s, -np.inf)) @ v


def expected_topk(x):
    at = np.argsort(-x, 1, kind="stable")[:, :K]
    return np.take_along_axis(x, at, 1), at


def expected_conv2d(x, w):
    p = np.pad(x.astype("f8"), ((0, 0), (1, 1), (1, 1), (0, 0)))
    h, width = x.shape[1:3]
    return sum(p[:, r : r + h, s : s + width] @ w[r, s].astype("f8") for r in range(3) for s in range(3))


def expected_cumsum(x, decay):
    sums = x.astype("f8")
    for column in range(1, x.shape[-1]):
        sums[..., column] += sums[..., column - 1] * decay
    return sums


def expected_segment_sum(x, segment, total):
    summed = total.astype("f8")
    np.add.at(summed, segment, x)
    return summed


def expected_rope(x, cosine, sine):
    a, b = np.split(x, 2, -1)
    c, s = cosine[:, None], sine[:, None]
    return np.concatenate((a * c - b * s, a * s + b * c), -1)


def expected_int8_product(a, b, scale):
    return (a.astype("i4") @ b.T.astype("i4")) * scale[:, None]


def expected_histogram(x):
    return np.bincount(x // 16, minlength=16)


def expected_block_sums(x):
    return np.add.reduceat(x.astype("f8"), np.arange(0, len(x), 64))


def int8(*shape: int) -> np.ndarray:
    return R.integers(-128, 128, shape).astype(np.int8)


QKV = normal(2, 5, 8), normal(2, 7, 8), normal(2, 7, 8)

# name: (kernel, arguments, what NumPy computes, tolerance)
CASES = {
    "softmax": (softmax, (normal(5, 21),), expected_softmax, 1e-6),
    "stencil": (stencil, (normal(6, 9),), expected_stencil, 1e-5),
    "attention": (attention, QKV, expected_attention, 1e-5),
    "topk": (topk, (normal(6, 30),), expected_topk, 0),
    "conv2d": (conv2d, (normal(1, 5, 6, 3), normal(3, 3, 3, 4)), expected_conv2d, 1e-5),
    "cumsum": (cumsum, (normal(2, 3, 5), 0.5), expected_cumsum, 1e-6),
    "rope": (rope, (normal(3, 2, 20), normal(3, 10), normal(3, 10)), expected_rope, 1e-6),
    "int8_product": (int8_product, (int8(4, 33), int8(5, 33), normal(4)), expected_int8_product, 1e-2),
    "histogram": (histogram, (R.integers(0, 256, 500).astype(np.uint8),), expected_histogram, 0),
}
