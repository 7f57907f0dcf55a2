"""500 random kernels on the emulated device give what an interpreter in Python gives: 100 times shorter, and slower."""

from __future__ import annotations

import struct

import ptx_exact as exact
import ptx_programs
import pytest
from ptx_driver import GPU_DRIVER, Driver
from ptx_interpreter import Program, run
from ptx_programs import THREADS
from ptx_random import WORDS

_FLOATS = {3: exact.F16, 4: exact.BF16, 5: exact.F32, 6: exact.F64}  # which of the words are floats


@pytest.fixture(scope="module")
def driver() -> Driver:
    return Driver()


def _same(got: int, expected: int, place: int) -> bool:
    if got == expected or place not in _FLOATS:
        return got == expected
    form = _FLOATS[place]
    values = [exact.from_bits(word & ((1 << form.bits) - 1), form) for word in (got, expected)]
    return all(value != value for value in values)


@pytest.mark.parametrize("first", range(0, ptx_programs.COUNT, ptx_programs.PER_MODULE))
def test_random_kernels_equal_the_simple_interpreter(driver: Driver, first: int) -> None:
    programs = ptx_programs.texts(first)
    loaded = driver.load(ptx_programs.module(programs))
    for seed, text in programs.items():
        if GPU_DRIVER is not None and seed in ptx_programs.COMPILED_WRONGLY:
            continue
        got = ptx_programs.run(driver, loaded, seed).tolist()
        memory = bytearray(ptx_programs.memory(seed).tobytes())
        run(Program(text, {"data": 0}), THREADS, memory, 4 * THREADS)
        expected = struct.unpack(f"<{len(memory) // 8}Q", memory)
        for i in range(4 * THREADS, len(expected)):
            thread, place = divmod(i - 4 * THREADS, WORDS)
            assert _same(got[i], expected[i], place), (
                f"seed {seed}, thread {thread}, word {place}: expected {expected[i]:#x}, got {got[i]:#x}\n{text}"
            )
