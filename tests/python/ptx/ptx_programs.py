"""Random kernels, and the memory that they are run on."""

from __future__ import annotations

import ctypes
import random
import struct
from collections.abc import Mapping

import numpy as np
from ptx_driver import HEADER, Driver
from ptx_form import edges
from ptx_random import WORDS, kernel

COUNT = 500
THREADS = 64
PER_MODULE = 50
# Where a GPU differs. ptxas (of CUDA 13.0 and 13.5) runs the last part of a guarded set of 16-bit operands where the guard is false.
COMPILED_WRONGLY = {26, 131, 286}
# Instructions that ptxas combines let a NaN through, or its sign: max of a number and itself, a negation that the next instruction takes up.
OTHER_NANS = {36, 88, 142, 217, 340, 346}


def texts(first: int) -> dict[int, str]:
    """Of PER_MODULE seeds from `first` on."""
    return {seed: kernel(f"k{seed}", seed, THREADS) for seed in range(first, first + PER_MODULE)}


def module(programs: Mapping[int, str]) -> str:
    return HEADER + "\n".join(programs.values())


def memory(seed: int) -> np.ndarray:
    """Four words per thread to read, then room for what is stored."""
    drawn = random.Random(seed)
    words = [*edges("u64"), *edges("f64"), *(word << 32 for word in edges("f32"))]
    chosen = [drawn.choice(words) if drawn.random() < 0.5 else drawn.getrandbits(64) for _ in range(4 * THREADS)]
    return np.frombuffer(struct.pack(f"<{4 * THREADS}Q", *chosen) + bytes(8 * WORDS * THREADS), np.uint64)


def run(driver: Driver, loaded: ctypes.c_void_p, seed: int) -> np.ndarray:
    return driver.run(loaded, f"k{seed}", 1, THREADS, [], memory(seed))
