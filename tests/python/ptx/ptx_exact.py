"""IEEE 754 arithmetic with every rounding mode, by rational numbers: slow, and short enough to be read.

Values are Python floats, which hold every f16, bf16, f32 and f64. Each function computes exactly and rounds once.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Format:
    name: str
    bits: int
    precision: int  # of the significand, with its hidden bit
    least: int  # exponent of the least normal number
    most: int  # exponent of the greatest number

    @property
    def unbounded(self) -> Format:
        """With the same precision, and no subnormal numbers."""
        return Format(self.name, self.bits, self.precision, -10000, self.most)

    @property
    def greatest(self) -> float:
        return math.ldexp(2 - 2.0 ** (1 - self.precision), self.most)


F16 = Format("f16", 16, 11, -14, 15)
BF16 = Format("bf16", 16, 8, -126, 127)
F32 = Format("f32", 32, 24, -126, 127)
F64 = Format("f64", 64, 53, -1022, 1023)
FORMATS = {form.name: form for form in (F16, BF16, F32, F64)}


def from_bits(bits: int, form: Format) -> float:
    if form is BF16:
        return float(struct.unpack("<f", struct.pack("<I", bits << 16))[0])
    return float(struct.unpack({16: "<e", 32: "<f", 64: "<d"}[form.bits], bits.to_bytes(form.bits // 8, "little"))[0])


def to_bits(value: float, form: Format) -> int:
    """Of a value that the format holds. A NaN is the one that the hardware's arithmetic gives."""
    if math.isnan(value):
        return {16: 0x7FFF, 32: 0x7FFFFFFF, 64: 0x7FFFFFFFFFFFFFFF}[form.bits]
    if form is BF16:
        return int(struct.unpack("<I", struct.pack("<f", value))[0]) >> 16
    code = {16: "<e", 32: "<f", 64: "<d"}[form.bits]
    return int.from_bytes(struct.pack(code, value), "little")


def negative(value: float) -> bool:
    return math.copysign(1, value) < 0


def to_integer(exact: Fraction, mode: str) -> int:
    below = math.floor(exact)
    if exact == below:
        return below
    if mode == "rm":
        return below
    if mode == "rp":
        return below + 1
    if mode == "rz":
        return below if exact > 0 else below + 1
    rest = exact - below
    if mode == "rna" and rest == Fraction(1, 2):
        return below + 1 if exact > 0 else below
    return below + int(rest > Fraction(1, 2) or (rest == Fraction(1, 2) and below % 2 == 1))


def rounded(exact: Fraction, form: Format, mode: str = "rn", zero_is_negative: bool = False) -> float:
    """The value of the format nearest to `exact` as the mode says; beyond the greatest, as IEEE 754 says (4.3, 7.4)."""
    if exact == 0:
        return -0.0 if zero_is_negative else 0.0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = max(exponent, form.least) - form.precision + 1
    count = to_integer(exact / Fraction(2) ** unit, mode)
    if abs(count) * Fraction(2) ** unit > Fraction(form.greatest):
        toward_zero = mode == "rz" or mode == ("rm" if exact > 0 else "rp")
        size_out = form.greatest if toward_zero else math.inf
        return size_out if exact > 0 else -size_out
    if count == 0:
        return -0.0 if exact < 0 else 0.0
    return math.ldexp(count, unit)


def add(a: float, b: float, form: Format, mode: str) -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a + b
    both_negative = a == 0 and b == 0 and negative(a) and negative(b)
    different = negative(a) != negative(b)
    return rounded(Fraction(a) + Fraction(b), form, mode, both_negative or (different and mode == "rm"))


def multiply(a: float, b: float, form: Format, mode: str) -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b
    return rounded(Fraction(a) * Fraction(b), form, mode, negative(a) != negative(b))


def divide(a: float, b: float, form: Format, mode: str) -> float:
    sign = -1.0 if negative(a) != negative(b) else 1.0
    if math.isnan(a) or math.isnan(b) or (a == 0 and b == 0) or (math.isinf(a) and math.isinf(b)):
        return math.nan
    if math.isinf(a) or b == 0:
        return sign * math.inf
    if math.isinf(b):
        return sign * 0.0
    return rounded(Fraction(a) / Fraction(b), form, mode, sign < 0)


def fused(a: float, b: float, c: float, form: Format, mode: str) -> float:
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    product = Fraction(a) * Fraction(b)
    product_negative = negative(a) != negative(b)
    zero_negative = mode == "rm" if product_negative != negative(c) else negative(c)
    return rounded(product + Fraction(c), form, mode, zero_negative)


def square_root(a: float, form: Format, mode: str) -> float:
    if math.isnan(a) or (a < 0):
        return math.nan
    if a == 0 or math.isinf(a):
        return a
    # 4 ** 700 more bits than any format has; what is cut off is half a bit, which no rounding mistakes for a tie.
    scaled = Fraction(a) * 4**700
    whole = math.isqrt(scaled.numerator // scaled.denominator)
    exact = whole * whole == scaled
    return rounded((Fraction(whole) + (0 if exact else Fraction(1, 2))) / 2**700, form, mode)


def flush(value: float, form: Format) -> float:
    """.ftz: subnormal numbers become zeros of their sign."""
    return math.copysign(0.0, value) if abs(value) < 2.0**form.least else value


def saturate(value: float) -> float:
    return 0.0 if math.isnan(value) or value <= 0 else min(value, 1.0)


def least(a: float, b: float, propagate: bool = False) -> float:
    """min and, by signs, max: a NaN gives way to the other operand unless it is propagated; -0 is below +0."""
    if math.isnan(a) or math.isnan(b):
        return math.nan if propagate or (math.isnan(a) and math.isnan(b)) else b if math.isnan(a) else a
    if a == b:
        return a if negative(a) else b
    return min(a, b)


def modified(work: Callable[..., float], form: Format, ftz: bool, sat: bool) -> Callable[..., float]:
    """`work` between the flushing of its operands and of its result, then saturated."""

    def run(*operands: float) -> float:
        if ftz:
            operands = tuple(flush(operand, form) for operand in operands)
        out = work(*operands)
        if ftz:
            out = flush(out, form)
        return saturate(out) if sat else out

    return run


def rounding(
    work: Callable[[Format], Callable[..., float]], form: Format, ftz: bool, sat: bool
) -> Callable[..., float]:
    """`modified` of what rounds: flushed is what would be subnormal had the result as many bits as a normal number."""
    bounded, unbounded = work(form), work(form.unbounded)

    def run(*operands: float) -> float:
        out = bounded(*operands)
        return out if math.isnan(out) or flush(unbounded(*operands), form) != 0 else math.copysign(0.0, out)

    return modified(run if ftz else bounded, form, ftz, sat)
