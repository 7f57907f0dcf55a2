"""500 random kernels on the emulated device give what an interpreter in Python gives: 100 times shorter, and slower."""

from __future__ import annotations

import random
import struct

import numpy as np
import ptx_exact as exact
import pytest
from ptx_driver import Driver
from ptx_form import edges
from ptx_interpreter import Program, run
from ptx_random import WORDS, kernel

THREADS = 64
PER_TEST = 50
HEADER = ".version 8.6\n.target sm_90\n.address_size 64\n"
_FLOATS = {3: exact.F16, 4: exact.BF16, 5: exact.F32, 6: exact.F64}  # which of the words are floats


@pytest.fixture(scope="module")
def driver() -> Driver:
    return Driver()


def _inputs(seed: int) -> bytes:
    drawn = random.Random(seed)
    words = [*edges("u64"), *edges("f64"), *(word << 32 for word in edges("f32"))]
    chosen = [drawn.choice(words) if drawn.random() < 0.5 else drawn.getrandbits(64) for _ in range(4 * THREADS)]
    return struct.pack(f"<{4 * THREADS}Q", *chosen)


def _same(got: int, expected: int, place: int) -> bool:
    if got == expected or place not in _FLOATS:
        return got == expected
    form = _FLOATS[place]
    values = [exact.from_bits(word & ((1 << form.bits) - 1), form) for word in (got, expected)]
    return all(value != value for value in values)


@pytest.mark.parametrize("first", range(0, 500, PER_TEST))
def test_random_kernels_equal_the_simple_interpreter(driver: Driver, first: int) -> None:
    texts = [kernel(f"k{seed}", seed, THREADS) for seed in range(first, first + PER_TEST)]
    module = driver.load(HEADER + "\n".join(texts))
    for seed, text in zip(range(first, first + PER_TEST), texts, strict=True):
        given = _inputs(seed) + bytes(8 * WORDS * THREADS)
        got = driver.run(module, f"k{seed}", 1, THREADS, [], np.frombuffer(given, np.uint64)).tolist()
        memory = bytearray(given)
        run(Program(text, {"data": 0}), THREADS, memory, 4 * THREADS)
        expected = struct.unpack(f"<{len(memory) // 8}Q", memory)
        for i in range(4 * THREADS, len(expected)):
            thread, place = divmod(i - 4 * THREADS, WORDS)
            assert _same(got[i], expected[i], place), (
                f"seed {seed}, thread {thread}, word {place}: expected {expected[i]:#x}, got {got[i]:#x}\n{text}"
            )
