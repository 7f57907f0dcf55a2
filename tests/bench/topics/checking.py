"""The cost of the checking mode: one call outside and inside of `kernpack.checking()`, the lines on stderr left out."""

from __future__ import annotations

import timeit

import numpy as np
from kit import Kit
from report import Row

SHAPES = ((4, 64), (128, 384), (2048, 1024))


def measure(kit: Kit) -> list[Row]:
    import kernpack

    k = kernpack.load("kernpack_kernels")
    rows = []
    for shape in SHAPES:
        x = np.random.default_rng(0).random(shape, np.float32)
        weight = np.ones(shape[-1], np.float32)

        def once(x: np.ndarray = x, weight: np.ndarray = weight) -> float:
            calls = 5 if x.size > 1_000_000 else 200
            return (
                min(timeit.repeat(lambda: k.rms_norm(x, weight), number=calls, repeat=max(3, kit.repetitions // 6)))
                / calls
            )

        unchecked = once()
        with kernpack.checking(trace=False):
            checked = once()
        name = f"rms_norm f32 {shape[0]}x{shape[1]}, checked"
        rows.append(Row("checking", name, checked * 1e9, unchecked * 1e9, peer="unchecked"))
    return rows
