"""Expressions of the kinds that LLVM has compiled wrongly, of our own writing: one for each rewrite that was mended there.

NVRTC and the kind llvm rewrite by LLVM, each of its own version. Run with KERNPACK_EMULATOR set, this compares both with the interpreter.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import kernpack
import kernpack_compiler as kc
import numpy as np
from kernpack_compiler import ir


class Fault(NamedTuple):
    """`rewrite`: what LLVM took the expression for, or forgot. `value`: of x, y: i32 and a, b: f32."""

    rewrite: str
    type: str
    value: str


FAULTS = (
    Fault("a rotation by 8, truncated, as a swap of two bytes", "i32", "i32(i16(i32(u32(x) >> 8u32) | (x << 8i32)))"),
    Fault(
        "a swap of four bytes, the last of which keeps its sign", "i32",
        "(x << 24i32) | ((x << 8i32) & 16711680i32) | (i32(u32(x) >> 8u32) & 65280i32) | (x >> 24i32)",
    ),
    Fault("a rotation by a variable that may be 0", "u32", "(u32(x) << (u32(y) & 31u32)) | (u32(x) >> ((0u32 - u32(y)) & 31u32))"),
    Fault("a rotation of two different values", "u32", "(u32(x) << 5u32) | (u32(y) >> 27u32)"),
    Fault("a rotation of 16 bits in 32", "i32", "i32(i16((x << 3i32) | i32(u16(x) >> 13u16)))"),
    Fault("shifts back and forth as a mask, of signed numbers", "i32", "((x << 8i32) >> 8i32) ^ x"),
    Fault("shifts back and forth by different counts", "u32", "((u32(x) << 9u32) >> 4u32) & 134217727u32"),
    Fault("a shift past the sign in a comparison", "i32", "select(((x & 255i32) << 24i32) > 0i32, x, y)"),
    Fault("a shift by a masked sum of counts", "u32", "(u32(x) >> (u32(y) & 15u32)) >> 17u32"),
    Fault("a shift of a narrow number as one of a wide", "i32", "i32(i8(i8(x) << 3i8) >> 5i8)"),
    Fault("division by -1 as a negation without overflow", "i32", "select(x / -1i32 < 0i32, x, -x)"),
    Fault("division by the least number as a comparison", "i32", "x / -2147483648i32 + x % -2147483648i32"),
    Fault("the remainder by a negative power of two", "i32", "x % -8i32 + floormod(x, -8i32)"),
    Fault("floored division by a negative number", "i32", "floordiv(x, -3i32) * 5i32 + floordiv(x, 7i32)"),
    Fault("unsigned division by a number with its highest bit", "u32", "u32(x) / 2147483649u32 + u32(x) % 2147483647u32"),
    Fault("a product divided by its factor, which may overflow", "i32", "(x * 3i32) / 3i32 + (x * 2i32) / 2i32"),
    Fault("division of a shifted number by a shifted one", "i32", "(x << 4i32) / (1i32 << (y & 7i32))"),
    Fault("the sign of a difference as a comparison", "i32", "select(x - y < 0i32, 1i32, 0i32) * 2i32 + i32(x < y)"),
    Fault("a sum that isn't larger", "i32", "i32(x + 1i32 > x) + i32(x - y > x)"),
    Fault("an absolute value that is negative", "i32", "select(abs(x) < 0i32, 7i32, abs(x - y) >> 1i32)"),
    Fault("a negated absolute value", "i32", "select(x < 0i32, x, -x) + select(y > -1i32, -y, y)"),
    Fault("limits of signed numbers as limits of unsigned ones", "u32", "min(max(u32(x), 5u32), 4294967290u32) - u32(max(min(x, -5i32), y))"),
    Fault("inverted operands of a minimum", "i32", "~min(~x, y) ^ max(x, ~y)"),
    Fault("a sum that stops at the largest number", "u32", "select(u32(x) + u32(y) < u32(x), 4294967295u32, u32(x) + u32(y))"),
    Fault("an average without overflow as a sum with one", "i32", "(x & y) + ((x ^ y) >> 1i32)"),
    Fault("a truncated number that is its own", "i32", "i32(i32(i8(x)) == x) + 2i32 * i32(i32(u16(y)) == y) + 4i32 * i32(i8(x) < i8(y))"),
    Fault("a masked merge", "i32", "((x ^ y) & 252645135i32) ^ y"),
    Fault("bits of either as bits of both", "i32", "((x | y) - (x & y)) ^ ((x & ~y) | (~x & y))"),
    Fault("a bit moved by a comparison", "i32", "select((x & 8i32) != 0i32, 64i32, 0i32) | select((y & 128i32) == 0i32, 2i32, 0i32)"),
    Fault("the lowest bit, and the rest without it", "i32", "(x & -x) + (y & (y - 1i32))"),
    Fault("a range as one unsigned comparison", "i32", "i32((x > -6i32) & (x < 9i32)) + 2i32 * i32((y < -3i32) | (y > 200i32))"),
    Fault("the high half of a product", "i32", "i32((i64(x) * i64(y)) >> 32i64) ^ i32((u64(u32(x)) * u64(u32(y))) >> 33u64)"),
    Fault("an integer there and back through a float", "i32", "i32(i32(f32(x)) == x) + 2i32 * i32(u32(f32(u32(y))) == u32(y))"),
    Fault("a float compared with what an integer is", "i32", "i32(f32(x) < 1.5) + 2i32 * i32(f32(u32(y)) > 2147483647.5)"),
    Fault("a minimum of floats, with NaN and zeros of both signs", "f32", "select(a < b, a, b) + select(a >= b, a, b)"),
    Fault("a negated comparison of floats", "f32", "select(~(a <= b), a, select(~(a != b), b, 1.0))"),
    Fault("a subtraction from 0 as a negation", "f32", "select(0.0 - a == -b, 0.0 - a, -a)"),
    Fault("an addition of 0", "f32", "1.0 / (a + 0.0) - 1.0 / (b - 0.0)"),
    Fault("division by a constant as a product", "f32", "a / 3.0 + b / 0.1"),
    Fault("a float's sign by its bits", "f32", "bitcast(f32, (bitcast(i32, a) & 2147483647i32) | (bitcast(i32, b) & -2147483648i32))"),
    Fault("a float that becomes an integer out of range", "i32", "i32(a * 4294967296.0) ^ i32(i8(b)) ^ i32(u8(a))"),
)  # fmt: skip

_INTEGERS = np.array(
    [0, 1, 2, 3, 5, 7, 8, 9, 31, 32, 33, 127, 128, 200, 255, 256, 32767, 32768, 65535, 65536, 0x7FFFFF, 0x800000, 0xFF00FF,
     0x12345678, 2**31 - 2, 2**31 - 1, -1, -2, -3, -5, -6, -7, -8, -9, -128, -129, -32768, -65536, -0x123457, 1 - 2**31, -(2**31)],
    np.int32,
)  # fmt: skip
_FLOATS = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.1, -0.3, 1.5, 127.5, -128.5, 3.0e38, -3.0e38, 1e-40, -1e-45, 1e-38, np.inf, -np.inf, np.nan],
    np.float32,
)  # fmt: skip


def arguments() -> tuple[np.ndarray, ...]:
    """Every pair of integers, and pairs of floats for as long."""
    x, y = (np.array(one) for one in zip(*itertools.product(_INTEGERS, repeat=2), strict=True))
    pairs = itertools.islice(itertools.cycle(itertools.product(_FLOATS, repeat=2)), len(x))
    return (x, y, *(np.array(one) for one in zip(*pairs, strict=True)))


def module() -> ir.IRModule:
    """One function for each fault."""
    header = "(x_: i32[N], y_: i32[N], a_: f32[N], b_: f32[N])"
    lets = " ".join(f"let {name} = {name}_[i]" for name in "xyab")
    functions = (
        f"func fault_{i}{header} -> (o: {fault.type}[N]) {{ for i in 0..N {{ {lets} o[i] = {fault.value} }} }}"
        for i, fault in enumerate(FAULTS)
    )
    return ir.IRModule.parse('module "faults" ' + " ".join(functions))


def differing(target: str, device: str) -> list[str]:
    """The rewrites of which the target's results aren't those of the interpreter."""
    written = module()
    built = kc.build(written, target)
    given = arguments()
    there = [kernpack.from_dlpack(one).to(device) for one in given]
    found = []
    for i, fault in enumerate(FAULTS):
        wanted = np.asarray(ir.interpret(written, f"fault_{i}", *given))
        got = np.from_dlpack(getattr(built, f"fault_{i}")(*there).to("cpu"))
        bits = [one.view(np.uint32).copy() for one in (wanted, got)]
        for one, values in zip(bits, (wanted, got), strict=True):
            one[values != values] = 0  # a NaN is like any other
        if not np.array_equal(*bits):
            found.append(fault.rewrite)
    return found


if __name__ == "__main__":
    for target, device in (("cuda -arch=compute_80", "cuda"), ("llvm", "cpu")):
        print(target, *differing(target, device), sep=": ")
