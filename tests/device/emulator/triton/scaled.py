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


@triton.jit
def product_of_copies(
    out, a, b, scales_a, scales_b, inner,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr, OF: tl.constexpr, IN: tl.constexpr, RUN: tl.constexpr,
):  # fmt: skip
    """The scales are packed so that tcgen05.cp brings them to tensor memory: 32 rows of four scales of every 32nd row."""
    fours: tl.constexpr = INNER // RUN // 4
    wide = inner // RUN // 4
    from_a = tl.make_tensor_descriptor(a, [ROWS, inner // IN], [inner // IN, 1], [ROWS, INNER // IN])
    from_b = tl.make_tensor_descriptor(b, [COLUMNS, inner // IN], [inner // IN, 1], [COLUMNS, INNER // IN])
    by_a = tl.make_tensor_descriptor(
        scales_a, [1, ROWS // 128, wide, 2, 256], [ROWS * wide * 4, wide * 512, 512, 256, 1],
        [1, ROWS // 128, fours, 2, 256],
    )  # fmt: skip
    by_b = tl.make_tensor_descriptor(
        scales_b, [1, COLUMNS // 128, wide, 2, 256], [COLUMNS * wide * 4, wide * 512, 512, 256, 1],
        [1, COLUMNS // 128, fours, 2, 256],
    )  # fmt: skip
    sums = tl.zeros((ROWS, COLUMNS), tl.float32)
    for k in tl.range(0, inner // INNER, num_stages=2):
        of_a = by_a.load([0, 0, k * fours, 0, 0]).reshape(ROWS // 128, fours, 32, 4, 4)
        of_b = by_b.load([0, 0, k * fours, 0, 0]).reshape(COLUMNS // 128, fours, 32, 4, 4)
        sums = tl.dot_scaled(
            from_a.load([0, k * (INNER // IN)]), of_a.trans(0, 3, 2, 1, 4).reshape(ROWS, INNER // RUN), OF,
            from_b.load([0, k * (INNER // IN)]).T, of_b.trans(0, 3, 2, 1, 4).reshape(COLUMNS, INNER // RUN), OF, sums,
        )  # fmt: skip
    tl.store(out + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :], sums)


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


def draw_scales(
    random: np.random.Generator, rows: int, count: int, run: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Scales of ue4m3 for runs of 16 elements, else of ue8m0; and a factor for each element."""
    codes = random.integers(*((0x30, 0x40) if run == 16 else (124, 130)), (rows, count)).astype(np.uint8)
    return codes, np.repeat(eights(codes, 3) if run == 16 else 2.0 ** (codes - 127.0), run, axis=1)


def copied(random: np.random.Generator) -> None:
    rows, inner = 128, 512
    held = []

    def allocate(size: int, alignment: int, stream: Any) -> Codes:
        del alignment, stream
        held.append(Codes(np.zeros(-(-size // 4) * 4, np.uint8)))
        return held[-1]

    triton.set_allocator(allocate)
    for of, columns, run in (("e4m3", 128, 32), ("e5m2", 256, 32), ("e2m1", 128, 32), ("e2m1", 256, 16)):
        (of_a, values_a), (of_b, values_b) = draw(random, rows, inner, of), draw(random, columns, inner, of)
        (by_a, factors_a), (by_b, factors_b) = (draw_scales(random, n, inner // run, run) for n in (rows, columns))
        packed = [
            each.reshape(-1, 4, 32, inner // run // 4, 4).transpose(0, 3, 2, 1, 4).reshape(-1).copy()
            for each in (by_a, by_b)
        ]
        out = alone.Array(np.zeros((rows, columns), np.float32))
        arrays = [
            Codes(of_a),
            Codes(of_b),
            *(Codes(each, "float8_e4m3fn" if run == 16 else "uint8") for each in packed),
        ]

        def launch(
            out: alone.Array = out, arrays: list[Codes] = arrays, sizes: tuple[str, int, int] = (of, columns, run)
        ) -> None:
            of, columns, run = sizes
            product_of_copies[(1,)](
                out, *arrays, inner, ROWS=rows, COLUMNS=columns, INNER=256 if of == "e2m1" else 128, OF=of,
                IN=2 if of == "e2m1" else 1, RUN=run, num_warps=4,
            )  # fmt: skip

        expected = ((values_a * factors_a) @ (values_b * factors_b).T).astype(np.float32)
        alone.check(f"{of}, {columns} columns, copied scales of {run}", out, expected, launch, 1e-5, 1e-2)


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
        (scales_a, by_a), (scales_b, by_b) = (draw_scales(random, n, inner // run, run) for n in (rows, columns))
        scales = (scales_a, scales_b)
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
    copied(random)


if __name__ == "__main__":
    main()
