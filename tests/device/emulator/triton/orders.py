"""Triton's kernels whose blocks work on one result: sums over parts of K by atomics, a lock, the last block of a row, flags between
blocks. Run as alone.py; prints a line for each that has NumPy's result. `orders.py MISTAKE` leaves out what orders the blocks."""

# ruff: noqa: N803 - Triton's constants are written in capitals
from __future__ import annotations

import sys
from typing import Any

import numpy as np
import triton
import triton.language as tl
from alone import Array


@triton.jit
def _part(a, b, first, parts, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns = tl.arange(0, BM), tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(first * BK, K, parts * BK):
        inner = k + tl.arange(0, BK)
        left = tl.load(a + rows[:, None] * K + inner[None, :])
        total = tl.dot(left, tl.load(b + inner[:, None] * N + columns[None, :]), total)
    return total


@triton.jit
def split(
    out, a, b, N, K, PARTS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ATOMIC: tl.constexpr
):
    part = _part(a, b, tl.program_id(0), PARTS, N, K, BM, BN, BK)
    to = out + tl.arange(0, BM)[:, None] * N + tl.arange(0, BN)[None, :]
    if ATOMIC:
        tl.atomic_add(to, part)
    else:
        tl.store(to, tl.load(to) + part)


@triton.jit
def with_lock(out, lock, x, n, BLOCK: tl.constexpr, SEM: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0) * n + columns, mask=columns < n, other=0.0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    count = tl.load(lock + 1)
    if count == 0:
        tl.atomic_xchg(lock + 1, 1)
    else:
        value += tl.load(out + columns, mask=columns < n, other=0.0)
    tl.store(out + columns, value, mask=columns < n)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem=SEM)


@triton.jit
def last_block(out, parts, count, x, n, BLOCK: tl.constexpr, BLOCKS: tl.constexpr, SEM: tl.constexpr):
    block = tl.program_id(0)
    columns = block * BLOCK + tl.arange(0, BLOCK)
    tl.store(parts + block, tl.sum(tl.load(x + columns, mask=columns < n, other=0.0), axis=0))
    tl.debug_barrier()
    if tl.atomic_add(count, 1, sem=SEM) == BLOCKS - 1:
        tl.store(out, tl.sum(tl.load(parts + tl.arange(0, BLOCKS)), axis=0))


# Each tile's K is shared by two blocks: the second leaves its part in memory and sets a flag, for which the first waits.
@triton.jit
def stream(out, parts, flags, a, b, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SEM: tl.constexpr):
    first = tl.program_id(0) == 0
    part = _part(a, b, tl.program_id(0), 2, N, K, BM, BN, BK)
    place = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    if first:
        tl.store(parts + place, part)
        tl.debug_barrier()
        tl.atomic_xchg(flags, 1, sem=SEM)
    else:
        while tl.atomic_cas(flags, 1, 1) != 1:
            pass
        tl.store(out + tl.arange(0, BM)[:, None] * N + tl.arange(0, BN)[None, :], part + tl.load(parts + place))


def main(mistake: str = "") -> None:
    triton.runtime.driver.active.set_current_device(0)
    random = np.random.default_rng(5)

    def values(*shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
        return random.standard_normal(shape).astype(dtype)

    def zeros(*shape: int) -> Array:
        return Array(np.zeros(shape, np.float32))

    def words(count: int) -> Array:
        made = Array(np.zeros(count, np.float32))
        made.dtype = "int32"
        return made

    a, b = values(32, 128, dtype="float16"), values(128, 32, dtype="float16")
    product, sizes = a.astype("f4") @ b.astype("f4"), {"BM": 32, "BN": 32, "BK": 16}
    if mistake in ("", "split"):
        out = zeros(32, 32)
        split[(4,)](out, Array(a), Array(b), 32, 128, PARTS=4, **sizes, ATOMIC=not mistake)
        np.testing.assert_allclose(out.numpy(), product, rtol=1e-3, atol=1e-3)
        print("split over K")
    if mistake in ("", "lock"):
        x, out = values(6, 100), zeros(100)
        with_lock[(6,)](out, words(2), Array(x), 100, BLOCK=128, SEM="relaxed" if mistake else "acq_rel")
        np.testing.assert_allclose(out.numpy(), x.sum(0), rtol=1e-4, atol=1e-4)
        print("lock")
    if mistake in ("", "last"):
        x, out = values(1000), zeros(1)
        last_block[(8,)](
            out, zeros(8), words(1), Array(x), 1000, BLOCK=128, BLOCKS=8, SEM="relaxed" if mistake else "acq_rel"
        )
        np.testing.assert_allclose(out.numpy(), x.sum(), rtol=1e-3, atol=1e-3)
        print("last block")
    if mistake in ("", "stream"):
        out, sem = zeros(32, 32), "relaxed" if mistake else "release"
        stream[(2,)](out, zeros(32, 32), words(1), Array(a), Array(b), 32, 128, **sizes, SEM=sem)
        np.testing.assert_allclose(out.numpy(), product, rtol=1e-3, atol=1e-3)
        print("flags")


if __name__ == "__main__":
    main(*sys.argv[1:])
