"""Triton's products for sm_100, whose sums are in tensor memory (tcgen05), without torch. Run by
`python -m kernpack_cuda_emulator run --device sm_100 -- python blackwell.py`."""

from __future__ import annotations

import numpy as np
import triton
from alone import Array, attention, check, matmul


def products(random: np.random.Generator) -> None:
    """Sums of 64 and 128 rows, by 4 and 8 warps, of f16 and of tf32."""
    for rows, columns, inner, warps, dtype in (
        (128, 128, 64, 4, "float16"),
        (64, 64, 32, 4, "float16"),
        (128, 128, 64, 8, "float16"),
        (128, 64, 32, 4, "float32"),
    ):
        a = random.standard_normal((130, 100)).astype(dtype)
        b = random.standard_normal((100, 70)).astype(dtype)
        out, left, right = Array(np.zeros((130, 70), np.float32)), Array(a), Array(b)

        def launch(
            out: Array = out,
            left: Array = left,
            right: Array = right,
            sizes: tuple[int, int, int, int] = (rows, columns, inner, warps),
        ) -> None:
            rows, columns, inner, warps = sizes
            grid = (-(-130 // rows), -(-70 // columns))
            matmul[grid](out, left, right, 130, 70, 100, BM=rows, BN=columns, BK=inner, num_warps=warps)

        expected = a.astype(np.float32) @ b.astype(np.float32)
        tolerance = 1e-4 if dtype == "float16" else 5e-2  # tf32 has 11 bits
        check(f"matmul {rows}x{columns}x{inner}, {warps} warps, {dtype}", out, expected, launch, tolerance, tolerance)


def attend(random: np.random.Generator) -> None:
    """The second product's A is in tensor memory."""
    q, k, v = (random.standard_normal((256, 64)).astype("float16") for _ in range(3))
    score = q.astype(np.float32) @ k.astype(np.float32).T / 8
    score = np.where(np.tril(np.ones((256, 256), bool)), score, -np.inf)
    weight = np.exp(score - score.max(-1, keepdims=True))
    expected = weight / weight.sum(-1, keepdims=True) @ v.astype(np.float32)
    out = Array(np.zeros((256, 64), np.float32))
    query, key, value = Array(q), Array(k), Array(v)
    check(
        "attention",
        out,
        expected,
        lambda: attention[(2,)](out, query, key, value, 256, 0.125, D=64, BM=128, BN=64),
        1e-2,
        1e-2,
    )


if __name__ == "__main__":
    triton.runtime.driver.active.set_current_device(0)
    generator = np.random.default_rng(3)
    products(generator)
    attend(generator)
