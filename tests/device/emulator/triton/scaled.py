"""Triton's products of scaled numbers of 8 and 4 bits, without torch: on sm_100 in tensor memory (tcgen05), on sm_120 by mma. Run by
`python -m kernpack_cuda_emulator run --device sm_120 -- python scaled.py`."""

# ruff: noqa: N803 - Triton's constants are written in capitals
from __future__ import annotations

from typing import Any

import alone
import numpy as np
import triton
import triton.language as tl

_FOURS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


class Codes(alone.Array):
    """Bytes, of a type that Triton is told."""

    def __init__(self, values: np.ndarray[Any, Any], dtype: str = "uint8") -> None:
        super().__init__(values.view(np.float32))
        self.dtype = dtype


@triton.jit
def product(
    out, a, b, scales_a, scales_b, inner,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr, A: tl.constexpr, B: tl.constexpr,
    IN_A: tl.constexpr, IN_B: tl.constexpr, RUN: tl.constexpr,
):  # fmt: skip
    row = tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, COLUMNS)
    scale = tl.arange(0, INNER // RUN)[None, :]
    sums = tl.zeros((ROWS, COLUMNS), tl.float32)
    for k in range(0, inner, INNER):
        of_a = tl.load(a + row * (inner // IN_A) + k // IN_A + tl.arange(0, INNER // IN_A)[None, :])
        of_b = tl.load(b + column[None, :] * (inner // IN_B) + k // IN_B + tl.arange(0, INNER // IN_B)[:, None])
        by_a = tl.load(scales_a + row * (inner // RUN) + k // RUN + scale)
        by_b = tl.load(scales_b + column[:, None] * (inner // RUN) + k // RUN + scale)
        sums = tl.dot_scaled(of_a, by_a, A, of_b, by_b, B, sums)
    tl.store(out + row * COLUMNS + column[None, :], sums)


def eights(codes: np.ndarray[Any, Any], mantissa: int) -> np.ndarray[Any, Any]:
    bias = (1 << (6 - mantissa)) - 1
    exponent, fraction = (codes & 0x7F) >> mantissa, (codes & ((1 << mantissa) - 1)) / 2.0**mantissa
    value = np.where(exponent == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (exponent - float(bias)))
    return np.where(codes & 0x80, -value, value)


def draw(
    random: np.random.Generator, rows: int, inner: int, of: str
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The bytes, and their values."""
    if of == "e2m1":
        codes = random.integers(0, 256, (rows, inner // 2)).astype(np.uint8)
        return codes, _FOURS[np.stack([codes & 15, codes >> 4], -1).reshape(rows, inner)]
    signs = random.integers(0, 2, (rows, inner)) << 7
    codes = (random.integers(0, 72, (rows, inner)) | signs).astype(np.uint8)
    return codes, eights(codes, 3 if of == "e4m3" else 2)


def main() -> None:
    triton.runtime.driver.active.set_current_device(0)
    random = np.random.default_rng(3)
    rows, inner = 128, 256
    for a, b, columns, run in (
        ("e4m3", "e4m3", 128, 32),
        ("e5m2", "e4m3", 64, 32),
        ("e4m3", "e2m1", 128, 32),
        ("e2m1", "e2m1", 128, 32),
        ("e2m1", "e2m1", 128, 16),
    ):
        (of_a, values_a), (of_b, values_b) = draw(random, rows, inner, a), draw(random, columns, inner, b)
        scales = [
            random.integers(*((0x30, 0x40) if run == 16 else (124, 130)), (n, inner // run)).astype(np.uint8)
            for n in (rows, columns)
        ]
        by_a, by_b = (
            np.repeat(eights(each, 3) if run == 16 else 2.0 ** (each - 127.0), run, axis=1) for each in scales
        )
        out = alone.Array(np.zeros((rows, columns), np.float32))
        arrays = [
            Codes(of_a),
            Codes(of_b),
            *(Codes(each, "float8_e4m3fn" if run == 16 else "uint8") for each in scales),
        ]

        def launch(
            out: alone.Array = out,
            arrays: list[Codes] = arrays,
            sizes: tuple[str, str, int, int] = (a, b, columns, run),
        ) -> None:
            a, b, columns, run = sizes
            product[(1,)](
                out, *arrays, inner, ROWS=rows, COLUMNS=columns, INNER=128, A=a, B=b, IN_A=2 if a == "e2m1" else 1,
                IN_B=2 if b == "e2m1" else 1, RUN=run, num_warps=4,
            )  # fmt: skip

        expected = ((values_a * by_a) @ (values_b * by_b).T).astype(np.float32)
        alone.check(f"{a} times {b}, scales of {run}", out, expected, launch, 1e-5, 1e-3)


if __name__ == "__main__":
    main()
