"""A form is an instruction with its types and modifiers, and what it computes, written down from the PTX ISA manual."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ptx_exact as exact

Value = Any  # an int, a float, or a bool, as the type of an operand says


@dataclass(frozen=True)
class Form:
    name: str
    out: str
    ins: tuple[str, ...]
    run: Callable[..., Value]
    text: str = ""  # of one line with %d, %a, %b, %c for the registers, if it isn't `name %d, %a, ...`
    tolerance: float = 0.0  # relative, of an approximation


def count_bits(type_name: str) -> int:
    if type_name == "pred":
        return 32
    digits = "".join(c for c in type_name.removesuffix("x2").removeprefix("bf").removeprefix("f") if c.isdigit())
    return int(digits) * (2 if type_name.endswith("x2") else 1)


def signed(word: int, bits: int) -> int:
    word &= (1 << bits) - 1
    return word - (1 << bits) if word >> (bits - 1) else word


def decoded(word: int, type_name: str) -> Value:
    """A register's bits as the instruction reads them."""
    if type_name == "pred":
        return word != 0
    if type_name in exact.FORMATS:
        return exact.from_bits(word & ((1 << count_bits(type_name)) - 1), exact.FORMATS[type_name])
    return signed(word, count_bits(type_name)) if type_name[0] == "s" else word & ((1 << count_bits(type_name)) - 1)


def encoded(value: Value, type_name: str) -> int:
    if type_name == "pred":
        return int(bool(value))
    if type_name in exact.FORMATS:
        return exact.to_bits(value, exact.FORMATS[type_name])
    return int(value) & ((1 << max(count_bits(type_name), 32 if count_bits(type_name) == 8 else 0)) - 1)


def pairs(name: str, type_name: str, arity: int, run: Callable[..., Value]) -> Form:
    """The form of two halves, each of which `run` computes by itself."""
    whole, half = type_name, type_name.removesuffix("x2")

    def both(*words: int) -> int:
        low = encoded(run(*(decoded(word & 0xFFFF, half) for word in words)), half)
        high = encoded(run(*(decoded(word >> 16, half) for word in words)), half)
        return high << 16 | low

    return Form(name, whole, (whole,) * arity, both)


def edges(type_name: str, few: bool = False) -> list[int]:
    """Words at which something changes, and a few at random."""
    drawn = random.Random(type_name + str(few))
    if type_name == "pred":
        return [0, 1]
    if type_name.endswith("x2"):
        half = edges(type_name.removesuffix("x2"), few)
        return [drawn.choice(half) << 16 | low for low in half]
    bits = count_bits(type_name)
    if type_name in exact.FORMATS:
        form = exact.FORMATS[type_name]
        fraction = form.precision - 1
        one, infinity = exact.to_bits(1.0, form), exact.to_bits(math.inf, form)
        positive = [0, 1, (1 << fraction) - 1, 1 << fraction, one, one + 1, one - 1, infinity - 1, infinity]
        if not few:
            positive += [exact.to_bits(value, form) for value in (0.5, 1.5, 2.5, 3.0, 2.0 ** (form.precision // 2 - 1))]
            positive += [(1 << fraction) + 1, 1 << (fraction - 1), exact.to_bits(1.5, form) + 1]
        sign = 1 << (bits - 1)
        nans = [infinity | 1 << (fraction - 1)] + ([] if few else [sign | infinity | 1])
        return [*positive, *(word | sign for word in positive), *nans, *_random(drawn, bits, 2 if few else 8)]
    top = 1 << (bits - 1)
    words = [0, 1, 2, 31, top - 1, top, 2 * top - 1]
    if not few:
        words += [3, 7, 8, 15, 16, 32, 33, 63, 64, 65, 255, 256, 257, top + 1, 2 * top - 2, 0x55, 0xAA << (bits - 8)]
    return [word & (2 * top - 1) for word in words] + _random(drawn, bits, 3 if few else 8)


def _random(drawn: random.Random, bits: int, count: int) -> list[int]:
    """Numbers of every size: as many of few bits as of many."""
    return [drawn.getrandbits(bits) >> (drawn.randrange(bits) if i % 2 else 0) for i in range(count)]
