"""Forms that convert, compare, select and test."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import ptx_exact as exact
from ptx_exact import F16, F32, FORMATS
from ptx_form import Form, count_bits

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
REALS = ("f16", "bf16", "f32", "f64")
MODES = ("rn", "rz", "rm", "rp")


def _limits(t: str) -> tuple[int, int]:
    bits = count_bits(t)
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if t[0] == "s" else (0, (1 << bits) - 1)


def _clamped(value: int, t: str) -> int:
    low, high = _limits(t)
    return max(low, min(high, value))


def _integer(value: float, out: str, source: str, mode: str) -> int:
    """Of a float: beyond the range, the nearest end; NaN is 0, or the top bit alone where 64 bits take part."""
    if math.isnan(value):
        return 1 << (count_bits(out) - 1) if source == "f64" or count_bits(out) == 64 else 0
    low, high = _limits(out)
    if math.isinf(value):
        return high if value > 0 else low
    return _clamped(exact.to_integer(Fraction(value), mode), out)


def _real(value: float, out: str, mode: str, sat: bool = False) -> float:
    if sat:
        value = exact.saturate(value)
    if not math.isfinite(value) or value == 0:
        return value
    return exact.rounded(Fraction(value), FORMATS[out], mode)


def _integral(value: float, mode: str) -> float:
    if not math.isfinite(value):
        return value
    whole = exact.to_integer(Fraction(value), mode)
    return math.copysign(float(whole), value)


def conversions() -> Iterator[Form]:
    for out in INTEGERS:
        low = _narrow(out)
        for source in INTEGERS:
            # The destination register is wider than its type: filled up by zeros, or by the sign.
            yield Form(f"cvt.{out}.{source}", _register(out), (source,), lambda a, f=low: f(a))
            if _limits(source)[0] < _limits(out)[0] or _limits(source)[1] > _limits(out)[1]:
                yield Form(f"cvt.sat.{out}.{source}", _register(out), (source,), lambda a, t=out: _clamped(a, t))
        for source in REALS if count_bits(out) > 8 else ("f16", "f32", "f64"):
            for mode in MODES:
                for ftz in ("", ".ftz")[: 2 if source == "f32" else 1]:
                    run = lambda a, o=out, s=source, m=mode, z=ftz: _integer(  # noqa: E731
                        exact.flush(a, F32) if z else a, o, s, m
                    )
                    widened = run if count_bits(out) == 64 else lambda a, f=run, n=low: n(f(a))
                    register = out if source == "bf16" else _register(out)
                    yield Form(f"cvt.{mode}i{ftz}.{out}.{source}", register, (source,), widened)
    for out in REALS:
        for source in INTEGERS[2:] if out == "bf16" else INTEGERS:
            for mode in MODES if out in ("f32", "f64") else MODES[:2]:
                whole = lambda a, o=out, m=mode: exact.rounded(Fraction(a), FORMATS[o], m)  # noqa: E731
                yield Form(f"cvt.{mode}.{out}.{source}", out, (source,), whole)
        for source in REALS:
            yield from _between(out, source)


def _between(out: str, source: str) -> Iterator[Form]:
    """A narrower format needs a rounding mode; a wider one takes none; the same one rounds to an integral value."""
    precise = (FORMATS[source].precision <= FORMATS[out].precision and source != "bf16") or source == out
    exact_value = out == "f64" or out == source or (out == "f32" and source != "f64")
    if out == source:
        for mode in MODES:
            for ftz in ("", ".ftz")[: 2 if out == "f32" else 1]:
                run = lambda a, o=out, m=mode, z=ftz: _integral(exact.flush(a, F32) if z else a, m)  # noqa: E731
                yield Form(f"cvt.{mode}i{ftz}.{out}.{source}", out, (source,), run)
        return
    if exact_value or precise:
        yield Form(f"cvt.{out}.{source}", out, (source,), lambda a, o=out: _real(a, o, "rn"))
        if out == "f64" and source == "f32":
            yield Form("cvt.ftz.f64.f32", out, (source,), lambda a: exact.flush(a, F32))
        return
    both = source == "f64" and out == "f32"
    for mode in MODES if both else MODES[:2]:
        run = lambda a, o=out, m=mode: _real(a, o, m)  # noqa: E731
        yield Form(f"cvt.{mode}.{out}.{source}", out, (source,), run)
        if both:
            flushed = lambda a, f=run: exact.flush(f(a), F32)  # noqa: E731
            yield Form(f"cvt.{mode}.ftz.{out}.{source}", out, (source,), flushed)
    if source == "f32":
        relu = lambda a, o=out: _real(a if math.isnan(a) or a > 0 else 0.0, o, "rn")  # noqa: E731
        yield Form(f"cvt.rn.relu.{out}.f32", out, (source,), relu)
        if out == "f16":
            yield Form("cvt.rn.sat.f16.f32", out, (source,), lambda a: _real(a, "f16", "rn", True))
    if both:
        yield Form("cvt.rn.sat.f32.f64", out, (source,), lambda a: _real(a, "f32", "rn", True))


def _register(out: str) -> str:
    return out[0] + str(max(32, count_bits(out)))


def _narrow(t: str) -> Callable[[int], int]:
    bits = count_bits(t)
    if t[0] == "u":
        return lambda a: a & ((1 << bits) - 1)
    return lambda a: ((a + (1 << (bits - 1))) & ((1 << bits) - 1)) - (1 << (bits - 1))


def packed() -> Iterator[Form]:
    for half in ("f16", "bf16"):
        form = FORMATS[half]
        for mode in ("rn", "rz"):
            for relu in ("", ".relu"):

                def run(a: float, b: float, m: str = mode, r: str = relu, s: exact.Format = form, o: str = half) -> int:
                    a, b = (v if not r or math.isnan(v) or v > 0 else 0.0 for v in (a, b))
                    return exact.to_bits(_real(a, o, m), s) << 16 | exact.to_bits(_real(b, o, m), s)

                yield Form(f"cvt.{mode}{relu}.{half}x2.f32", f"{half}x2", ("f32", "f32"), run)
                if mode == "rn" or half == "f16":
                    most = form.greatest

                    def finite(v: float, r: str = relu, most: float = most) -> float:
                        v = v if not r or math.isnan(v) or v > 0 else 0.0
                        return v if math.isnan(v) else max(-most, min(most, v))

                    def one(a: float, f: Any = finite, m: str = mode, o: str = half) -> float:
                        return _real(f(a), o, m)

                    def two(a: float, b: float, f: Any = one, s: exact.Format = form) -> int:
                        return exact.to_bits(f(a), s) << 16 | exact.to_bits(f(b), s)

                    yield Form(f"cvt.{mode}{relu}.satfinite.{half}.f32", half, ("f32",), one)
                    yield Form(f"cvt.{mode}{relu}.satfinite.{half}x2.f32", f"{half}x2", ("f32", "f32"), two)
    yield from _eight()
    tf32 = exact.Format("tf32", 32, 11, -126, 127)
    for mode in ("rn", "rz"):
        for relu in ("", ".relu"):

            def narrow(a: float, m: str = mode, r: str = relu) -> float:
                a = a if not r or math.isnan(a) or a > 0 else 0.0
                return a if not math.isfinite(a) or a == 0 else exact.rounded(Fraction(a), tf32, m)

            name = f"cvt.{mode}{relu}.tf32.f32"
            yield Form(name, "f32", ("f32",), narrow, f"{{ .reg .b32 %x; {name} %x, %a; mov.b32 %d, %x; }}")
    # A NaN is cut off as it is.
    rna = lambda a: (a if a & 0x7F800000 == 0x7F800000 else a + 0x1000) & 0xFFFFE000  # noqa: E731
    yield Form("cvt.rna.tf32.f32", "u32", ("u32",), rna, "{ .reg .f32 %x; mov.b32 %x, %a; cvt.rna.tf32.f32 %d, %x; }")


def _eight() -> Iterator[Form]:
    """By ml_dtypes, which has no saturation: values are cut off before."""
    for eight, kind in (("e4m3", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2)):
        most = float(ml_dtypes.finfo(kind).max)
        for relu in ("", ".relu"):

            def write(a: float, r: str = relu, k: Any = kind, most: float = most) -> int:
                if math.isnan(a):
                    return 0x7F
                a = 0.0 if r and a <= 0 else max(-most, min(most, a))
                return int(np.array(a, np.float32).astype(k).view(np.uint8))

            def read(word: int, r: str = relu, k: Any = kind) -> int:
                a = float(np.array(word, np.uint8).view(k).astype(np.float32))
                return exact.to_bits(0.0 if r and a <= 0 else a, F16)

            def halves(word: int, w: Any = write) -> int:
                high, low = (exact.from_bits(half, F16) for half in (word >> 16, word & 0xFFFF))
                return w(high) << 8 | w(low)

            def floats(a: float, b: float, w: Any = write) -> int:
                return w(a) << 8 | w(b)

            def back(word: int, f: Any = read) -> int:
                return f(word >> 8) << 16 | f(word & 0xFF)

            yield Form(f"cvt.rn.satfinite{relu}.{eight}x2.f32", "b16", ("f32", "f32"), floats)
            yield Form(f"cvt.rn.satfinite{relu}.{eight}x2.f16x2", "b16", ("f16x2",), halves)
            yield Form(f"cvt.rn{relu}.f16x2.{eight}x2", "f16x2", ("b16",), back)


_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def _comparisons(t: str) -> dict[str, Callable[[Any, Any], bool]]:
    if t in REALS:
        unordered = lambda a, b: math.isnan(a) or math.isnan(b)  # noqa: E731
        found = {name: lambda a, b, f=f: not unordered(a, b) and f(a, b) for name, f in _ORDER.items()}
        found |= {name + "u": lambda a, b, f=f: unordered(a, b) or f(a, b) for name, f in _ORDER.items()}
        return found | {"num": lambda a, b: not unordered(a, b), "nan": unordered}
    if t[0] == "b":
        return {name: _ORDER[name] for name in ("eq", "ne")}
    return _ORDER | ({name: _ORDER[same] for name, same in _UNSIGNED.items()} if t[0] == "u" else {})


def _halves(t: str, name: str, run: Callable[[float, float], bool]) -> Iterator[Form]:
    """Comparisons of pairs: 1.0, all ones or a predicate for each half."""
    pair, form = t + "x2", FORMATS[t]

    def each(a: int, b: int) -> tuple[bool, bool]:
        words = ((a & 0xFFFF, b & 0xFFFF), (a >> 16, b >> 16))
        low, high = (run(exact.from_bits(x, form), exact.from_bits(y, form)) for x, y in words)
        return low, high

    for out in ("u16", "s16"):
        yield Form(f"set.{name}.{out}.{t}", "u16", (t, t), lambda a, b: 0xFFFF if run(a, b) else 0)
    for out, true in (("u32", 0xFFFF), (pair, exact.to_bits(1.0, form))):
        whole = lambda a, b, v=true: sum(v << 16 * i for i, found in enumerate(each(a, b)) if found)  # noqa: E731
        yield Form(f"set.{name}.{out}.{pair}", "u32", ("u32", "u32"), whole)
    for place, text in ((0, "%d|%x"), (1, "%x|%d")):
        both = f"{{ .reg .pred %x; setp.{name}.{pair} {text}, %a, %b; }}"
        yield Form(f"setp.{name}.{pair}", "pred", ("u32", "u32"), lambda a, b, i=place: each(a, b)[i], both)


def comparisons() -> Iterator[Form]:
    for t in ("b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", *REALS):
        operand = "u" + t[1:] if t[0] == "b" and t != "bf16" else t
        for name, run in _comparisons(t).items():
            two = (operand, operand)
            yield Form(f"setp.{name}.{t}", "pred", two, run)
            real: tuple[str, Any] = (t, 1.0) if t in ("f16", "bf16") else ("f32", 1.0)
            for out, true in (("u32", 0xFFFFFFFF), ("s32", -1), real):
                yield Form(f"set.{name}.{out}.{t}", out, two, lambda a, b, f=run, v=true: v if f(a, b) else type(v)(0))
            if t == "f32":
                flushed = lambda a, b, f=run: f(exact.flush(a, F32), exact.flush(b, F32))  # noqa: E731
                yield Form(f"setp.{name}.ftz.f32", "pred", two, flushed)
            if t == "f16":
                flushed = lambda a, b, f=run: f(exact.flush(a, F16), exact.flush(b, F16))  # noqa: E731
                yield Form(f"setp.{name}.ftz.f16", "pred", two, flushed)
            if t in ("f16", "bf16"):
                yield from _halves(t, name, run)
    three = ("s32", "s32", "pred")
    for name, join in (("and", lambda x, c: x and c), ("or", lambda x, c: x or c), ("xor", lambda x, c: x != c)):
        yield Form(f"setp.lt.{name}.s32", "pred", three, lambda a, b, c, f=join: f(a < b, c))
        both = f"{{ .reg .pred %x; setp.lt.{name}.s32 %x|%d, %a, %b, %c; }}"
        yield Form(f"setp.lt.{name}.s32", "pred", three, lambda a, b, c, f=join: f(not a < b, c), both)
        negated = f"setp.lt.{name}.s32 %d, %a, %b, !%c;"
        yield Form(f"setp.lt.{name}.s32", "pred", three, lambda a, b, c, f=join: f(a < b, not c), negated)
        yield Form(f"{name}.pred", "pred", ("pred", "pred"), join)
    yield Form("not.pred", "pred", ("pred",), lambda a: not a)
    yield Form("mov.pred", "pred", ("pred",), lambda a: a)


def selections() -> Iterator[Form]:
    for t in ("b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64"):
        operand = "u" + t[1:] if t[0] == "b" else t
        yield Form(f"selp.{t}", operand, (operand, operand, "pred"), lambda a, b, c: a if c else b)
    for t in ("b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64"):
        operand = "u" + t[1:] if t[0] == "b" else t
        yield Form(f"slct.{t}.s32", operand, (operand, operand, "s32"), lambda a, b, c: a if c >= 0 else b)
        # -0.0 counts as positive zero, NaN as negative.
        yield Form(f"slct.{t}.f32", operand, (operand, operand, "f32"), lambda a, b, c: a if c >= 0 else b)
    flushed = lambda a, b, c: a if exact.flush(c, F32) >= 0 else b  # noqa: E731
    yield Form("slct.ftz.u32.f32", "u32", ("u32", "u32", "f32"), flushed)


def tests() -> Iterator[Form]:
    for t in ("f32", "f64"):
        normal = lambda a, f=FORMATS[t]: math.isfinite(a) and (a == 0 or abs(a) >= 2.0**f.least)  # noqa: E731
        work: dict[str, Callable[[float], bool]] = {
            "finite": math.isfinite,
            "infinite": math.isinf,
            "number": lambda a: not math.isnan(a),
            "notanumber": math.isnan,
            "normal": normal,
            "subnormal": lambda a, f=normal: math.isfinite(a) and not f(a),
        }
        for name, run in work.items():
            yield Form(f"testp.{name}.{t}", "pred", (t,), run)


def forms() -> list[Form]:
    return [*conversions(), *packed(), *comparisons(), *selections(), *tests()]
