"""Triton's kernels through Triton's own launcher, without torch: softmax, a matrix product, layer norm, attention. Run by
`python -m kernpack_cuda_emulator run -- python alone.py`; prints a line for each that has NumPy's result."""

# ruff: noqa: N803 - Triton's constants are written in capitals
from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import triton
import triton.language as tl

_driver = ctypes.CDLL("libcuda.so.1")


class Array:
    """Memory of the device, as much of a tensor as Triton's launcher asks for."""

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self._like = np.ascontiguousarray(values)
        self.dtype = {"float32": "float32", "float16": "float16"}[str(values.dtype)]
        pointer = ctypes.c_uint64()
        assert _driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(self._like.nbytes)) == 0
        self._pointer = pointer.value
        data = self._like.ctypes.data_as(ctypes.c_void_p)
        assert _driver.cuMemcpyHtoD_v2(pointer, data, ctypes.c_size_t(self._like.nbytes)) == 0

    def data_ptr(self) -> int:
        return self._pointer

    def numpy(self) -> np.ndarray[Any, Any]:
        out = np.empty_like(self._like)
        data = out.ctypes.data_as(ctypes.c_void_p)
        assert _driver.cuMemcpyDtoH_v2(data, ctypes.c_uint64(self._pointer), ctypes.c_size_t(out.nbytes)) == 0
        return out


@triton.jit
def softmax(out, x, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    value = tl.load(x + row * n + columns, mask=columns < n, other=-float("inf"))
    weight = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * n + columns, weight / tl.sum(weight, axis=0), mask=columns < n)


@triton.jit
def layer_norm(out, x, scale, shift, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    value = tl.load(x + row * n + columns, mask=inside, other=0.0)
    mean = tl.sum(value, axis=0) / n
    centred = tl.where(inside, value - mean, 0.0)
    factor = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    by = tl.load(scale + columns, mask=inside)
    tl.store(out + row * n + columns, centred * factor * by + tl.load(shift + columns, mask=inside), mask=inside)


@triton.jit
def matmul(out, a, b, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, K, BK):
        inner = first + tl.arange(0, BK)
        left = tl.load(a + rows[:, None] * K + inner[None, :], mask=(rows[:, None] < M) & (inner[None, :] < K), other=0)
        right = tl.load(b + inner[:, None] * N + columns, mask=(inner[:, None] < K) & (columns[None, :] < N), other=0)
        total = tl.dot(left, right, total)
    tl.store(out + rows[:, None] * N + columns, total, mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def attention(out, q, k, v, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    lanes = tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + lanes)
    most = tl.full((BM,), -float("inf"), dtype=tl.float32)
    weight = tl.zeros((BM,), dtype=tl.float32)
    total = tl.zeros((BM, D), dtype=tl.float32)
    for first in range(0, n, BN):
        columns = first + tl.arange(0, BN)
        score = tl.dot(query, tl.trans(tl.load(k + columns[:, None] * D + lanes))) * scale
        score = tl.where(rows[:, None] >= columns[None, :], score, -float("inf"))
        now = tl.maximum(most, tl.max(score, axis=1))
        part = tl.exp(score - now[:, None])
        keep = tl.exp(most - now)
        weight = weight * keep + tl.sum(part, axis=1)
        total = tl.dot(part.to(tl.float16), tl.load(v + columns[:, None] * D + lanes), total * keep[:, None])
        most = now
    tl.store(out + rows[:, None] * D + lanes, total / weight[:, None])


def _softmax(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    weight = np.exp(x - x.max(-1, keepdims=True))
    return weight / weight.sum(-1, keepdims=True)


def check(
    name: str, out: Array, expected: np.ndarray[Any, Any], launch: Callable[[], object], rtol: float, atol: float = 0.0
) -> None:
    """The first launch compiles, a second one is measured, in seconds that processors have computed."""
    launch()
    values = out.numpy()
    np.testing.assert_allclose(values, expected, rtol=rtol, atol=atol)
    begin = time.process_time()
    launch()
    assert _driver.cuCtxSynchronize() == 0
    seconds = time.process_time() - begin
    print(f"{name}: right within {np.abs(values - expected).max():.1e}, {seconds:.6f} s", flush=True)


def main() -> None:
    triton.runtime.driver.active.set_current_device(0)
    random = np.random.default_rng(3)

    def values(*shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
        return random.standard_normal(shape).astype(dtype)

    x, scale, shift = values(5, 100), values(100), values(100)
    on_device, out = Array(x), Array(np.zeros_like(x))
    check("softmax", out, _softmax(x), lambda: softmax[(5,)](out, on_device, 100, BLOCK=128), 1e-5)

    # Fused, x * x + y is rounded once and differs between the lanes of a sum by a bit; all of them store it to one word, a race.
    by, plus = Array(scale), Array(shift)
    centred = x - x.mean(-1, keepdims=True)
    normal = centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)
    check(
        "layer norm",
        out,
        normal * scale + shift,
        lambda: layer_norm[(5,)](out, on_device, by, plus, 100, 1e-5, BLOCK=128, enable_fp_fusion=False),
        1e-4,
        1e-5,
    )

    a, b = values(70, 40, dtype="float16"), values(40, 50, dtype="float16")
    left, right, product = Array(a), Array(b), Array(np.zeros((70, 50), np.float32))
    check(
        "matmul",
        product,
        a.astype("f4") @ b.astype("f4"),
        lambda: matmul[(3, 2)](product, left, right, 70, 50, 40, BM=32, BN=32, BK=16),
        1e-3,
        1e-3,
    )

    q, k, v = (values(64, 32, dtype="float16") for _ in range(3))
    query, key, value, attended = Array(q), Array(k), Array(v), Array(np.zeros((64, 32), np.float32))
    score = q.astype("f4") @ k.astype("f4").T * 32**-0.5
    check(
        "attention",
        attended,
        _softmax(np.where(np.tri(64, dtype=bool), score, -np.inf)) @ v.astype("f4"),
        lambda: attention[(2,)](attended, query, key, value, 64, 32**-0.5, D=32, BM=32, BN=32),
        2e-2,
        2e-3,
    )


if __name__ == "__main__":
    main()
