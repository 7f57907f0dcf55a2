"""Triton's code for Hopper through its own launcher, without torch: wgmma with operands that cp.async and tensor maps bring, tensor maps
that the host and that kernels make, specialised warps. Run as alone.py; prints a line for each kernel that has NumPy's result."""

# ruff: noqa: N803 - Triton's constants are written in capitals
from __future__ import annotations

import sys
from typing import Any

import numpy as np
import triton
import triton.language as tl
from alone import Array, attention, matmul
from triton.tools.tensor_descriptor import TensorDescriptor


class DType(str):
    """A name of a type with what Triton asks of torch's types."""

    __slots__ = ()

    @property
    def itemsize(self) -> int:
        return {"float32": 4, "float16": 2, "bfloat16": 2, "int8": 1}[str(self)]


class Matrix(Array):
    def __init__(self, values: np.ndarray[Any, Any], dtype: str | None = None) -> None:
        like = np.float16 if values.dtype.itemsize == 2 else np.float32
        super().__init__(values.view(like))
        self.dtype = DType(dtype or str(values.dtype))
        self.shape = values.shape


@triton.jit
def matmul_device_maps(out, a, b, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    right = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    to = tl.make_tensor_descriptor(out, [M, N], [N, 1], [BM, BN])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, K, BK):
        total = tl.dot(left.load([row, first]), right.load([first, column]), total)
    to.store([row, column], total)


@triton.jit
def matmul_host_maps(to, left, right, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPECIAL: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for first in tl.range(0, K, BK, warp_specialize=SPECIAL):
        total = tl.dot(left.load([row, first]), right.load([column, first]).T, total)
    to.store([row, column], total)


def to_brain(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def from_brain(bits: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def main() -> None:
    triton.runtime.driver.active.set_current_device(0)
    held = []

    def allocate(size: int, alignment: int, stream: Any) -> Array:
        del alignment, stream
        held.append(Array(np.zeros((size + 3) // 4, np.float32)))
        return held[-1]

    triton.set_allocator(allocate)
    random = np.random.default_rng(5)
    only = sys.argv[1:]

    def values(*shape: int) -> np.ndarray[Any, Any]:
        return random.standard_normal(shape).astype(np.float32)

    def done(name: str, found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], tolerance: float = 2e-3) -> None:
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * 10)
        print(name, flush=True)

    def plain(name: str, a: Matrix, b: Matrix, expected: np.ndarray[Any, Any], warps: int) -> None:
        if only and name not in only:
            return
        (m, k), n = a.shape, b.shape[1]
        out = Array(np.zeros((m, n), np.float32))
        grid = (triton.cdiv(m, 128), triton.cdiv(n, 64))
        matmul[grid](out, a, b, m, n, k, BM=128, BN=64, BK=64, num_warps=warps, num_stages=3)
        done(name, out.numpy(), expected)

    a, b = values(200, 160).astype("f2"), values(160, 72).astype("f2")
    plain("f16", Matrix(a), Matrix(b), a.astype("f4") @ b.astype("f4"), 4)
    plain("f16, two warpgroups", Matrix(a), Matrix(b), a.astype("f4") @ b.astype("f4"), 8)
    x, y = to_brain(values(128, 128)), to_brain(values(128, 64))
    plain("bf16", Matrix(x, "bfloat16"), Matrix(y, "bfloat16"), from_brain(x) @ from_brain(y), 4)
    x, y = values(128, 96), values(96, 64)
    plain("tf32", Matrix(x), Matrix(y), x @ y, 4)

    if not only or "maps of the device" in only:
        a, b = values(200, 160).astype("f2"), values(160, 72).astype("f2")
        out = Array(np.zeros((200, 72), np.float32))
        matmul_device_maps[(2, 2)](out, Matrix(a), Matrix(b), 200, 72, 160, BM=128, BN=64, BK=64, num_warps=4)
        done("maps of the device", out.numpy(), a.astype("f4") @ b.astype("f4"))
    for special in (False, True):
        name = "specialised warps" if special else "maps of the host"
        if only and name not in only:
            continue
        rows = 64 if special else 128  # Triton 3.9 doesn't split tiles whose maps are the host's between two warpgroups
        a, b = values(200, 256).astype("f2"), values(72, 256).astype("f2")
        out = Matrix(np.zeros((200, 72), np.float32))
        left = TensorDescriptor(Matrix(a), [200, 256], [256, 1], [rows, 64])
        right = TensorDescriptor(Matrix(b), [72, 256], [256, 1], [64, 64])
        to = TensorDescriptor(out, [200, 72], [72, 1], [rows, 64])
        matmul_host_maps[(triton.cdiv(200, rows), 2)](
            to, left, right, 256, BM=rows, BN=64, BK=64, SPECIAL=special, num_warps=4
        )
        done(name, out.numpy(), a.astype("f4") @ b.astype("f4").T)

    if not only or "attention" in only:
        q, k, v = (values(128, 64).astype("f2") for _ in range(3))
        attended = Array(np.zeros((128, 64), np.float32))
        attention[(2,)](attended, Array(q), Array(k), Array(v), 128, 64**-0.5, D=64, BM=64, BN=64)
        score = np.where(np.tri(128, dtype=bool), q.astype("f4") @ k.astype("f4").T / 8, -np.inf)
        weight = np.exp(score - score.max(-1, keepdims=True))
        done("attention", attended.numpy(), weight / weight.sum(-1, keepdims=True) @ v.astype("f4"), 1e-2)


if __name__ == "__main__":
    main()
