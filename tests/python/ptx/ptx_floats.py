"""Forms of floating-point numbers: arithmetic in every rounding mode, extremes, approximations."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator

import ptx_exact as exact
from ptx_exact import F32, F64, FORMATS, modified, rounding
from ptx_form import Form, pairs

MODES = ("rn", "rz", "rm", "rp")


def _name(op: str, t: str, *modifiers: str) -> str:
    return ".".join([op, *(modifier for modifier in modifiers if modifier), t])


def arithmetic() -> Iterator[Form]:
    for mode in MODES:
        for t, form in (("f32", F32), ("f64", F64)):
            for ftz in ("", "ftz")[: 2 if t == "f32" else 1]:
                for sat in ("", "sat")[: 2 if t == "f32" else 1]:
                    work = {
                        "add": lambda f, m=mode: lambda a, b: exact.add(a, b, f, m),
                        "sub": lambda f, m=mode: lambda a, b: exact.add(a, -b, f, m),
                        "mul": lambda f, m=mode: lambda a, b: exact.multiply(a, b, f, m),
                        "fma": lambda f, m=mode: lambda a, b, c: exact.fused(a, b, c, f, m),
                    }
                    for op, run in work.items():
                        ins = (t,) * (3 if op == "fma" else 2)
                        yield Form(_name(op, t, mode, ftz, sat), t, ins, rounding(run, form, bool(ftz), bool(sat)))
                unary = {
                    "rcp": lambda f, m=mode: lambda a: exact.divide(1.0, a, f, m),
                    "sqrt": lambda f, m=mode: lambda a: exact.square_root(a, f, m),
                }
                for op, run in unary.items():
                    yield Form(_name(op, t, mode, ftz), t, (t,), rounding(run, form, bool(ftz), False))
                quotient = rounding(lambda f, m=mode: lambda a, b: exact.divide(a, b, f, m), form, bool(ftz), False)
                yield Form(_name("div", t, mode, ftz), t, (t, t), quotient)
    # Without a mode, and mad, which is fma there: from sm_20 on.
    yield Form("add.f32", "f32", ("f32", "f32"), lambda a, b: exact.add(a, b, F32, "rn"))
    yield Form("sub.f64", "f64", ("f64", "f64"), lambda a, b: exact.add(a, -b, F64, "rn"))
    yield Form("mad.rn.f32", "f32", ("f32",) * 3, lambda a, b, c: exact.fused(a, b, c, F32, "rn"))
    yield Form("mad.rz.f64", "f64", ("f64",) * 3, lambda a, b, c: exact.fused(a, b, c, F64, "rz"))


def small() -> Iterator[Form]:
    """f16, bf16 and pairs of them: rounded once, to nearest."""
    for half in ("f16", "bf16"):
        form = FORMATS[half]
        work: dict[str, tuple[int, Callable[[exact.Format], Callable[..., float]]]] = {
            "add": (2, lambda f: lambda a, b: exact.add(a, b, f, "rn")),
            "sub": (2, lambda f: lambda a, b: exact.add(a, -b, f, "rn")),
            "mul": (2, lambda f: lambda a, b: exact.multiply(a, b, f, "rn")),
            "fma": (3, lambda f: lambda a, b, c: exact.fused(a, b, c, f, "rn")),
        }
        extremes: dict[str, Callable[..., float]] = {
            "min": exact.least,
            "max": lambda a, b, propagate=False: -exact.least(-a, -b, propagate),
        }
        for t in (half, half + "x2"):
            make = pairs if t != half else lambda name, t, arity, run: Form(name, t, (t,) * arity, run)
            for op, (arity, run) in work.items():
                for ftz in ("", "ftz")[: 2 if half == "f16" else 1]:
                    for sat in ("", "sat")[: 2 if half == "f16" else 1]:
                        name = _name(op, t, "rn", ftz, sat)
                        yield make(name, t, arity, rounding(run, form, bool(ftz), bool(sat)))
            relu = lambda a, b, c, f=form: _relu(exact.fused(a, b, c, f, "rn"))  # noqa: E731
            yield make(_name("fma", t, "rn", "relu"), t, 3, relu)
            for op, extreme in extremes.items():
                yield make(f"{op}.{t}", t, 2, extreme)
                yield make(f"{op}.NaN.{t}", t, 2, lambda a, b, f=extreme: f(a, b, True))
                if half == "f16":
                    yield make(f"{op}.ftz.{t}", t, 2, modified(extreme, form, True, False))
            yield make(f"neg.{t}", t, 1, lambda a: -a)
            yield make(f"abs.{t}", t, 1, abs)


def _relu(value: float) -> float:
    return value if math.isnan(value) or value > 0 else 0.0


def signs_and_extremes() -> Iterator[Form]:
    for t, form in (("f32", F32), ("f64", F64)):
        extremes: dict[str, Callable[..., float]] = {
            "min": exact.least,
            "max": lambda a, b, propagate=False: -exact.least(-a, -b, propagate),
        }
        for op, run in extremes.items():
            yield Form(f"{op}.{t}", t, (t, t), run)
            if t == "f32":
                yield Form(f"{op}.ftz.f32", t, (t, t), modified(run, form, True, False))
                yield Form(f"{op}.NaN.f32", t, (t, t), lambda a, b, f=run: f(a, b, True))
                yield Form(
                    f"{op}.ftz.NaN.f32", t, (t, t), modified(lambda a, b, f=run: f(a, b, True), form, True, False)
                )
        yield Form(f"neg.{t}", t, (t,), lambda a: -a)
        yield Form(f"abs.{t}", t, (t,), abs)
        yield Form(f"copysign.{t}", t, (t, t), lambda a, b: math.copysign(b, a))
    yield Form("neg.ftz.f32", "f32", ("f32",), modified(lambda a: -a, F32, True, False))
    yield Form("abs.ftz.f32", "f32", ("f32",), modified(abs, F32, True, False))


def _or_nan(run: Callable[[float], float], allowed: Callable[[float], bool]) -> Callable[[float], float]:
    return lambda a: run(a) if allowed(a) else math.nan


def _exp2(a: float) -> float:
    return math.inf if a > 1100 else 0.0 if a < -1200 else 2.0**a if math.isfinite(a) else a


def _log2(a: float) -> float:
    return -math.inf if a == 0 else math.inf if math.isinf(a) else math.log2(a)


def _reciprocal_root(a: float) -> float:
    return math.copysign(math.inf, a) if a == 0 else 0.0 if math.isinf(a) else 1 / math.sqrt(a)


def _quotient(a: float, b: float) -> float:
    """div.approx: a divisor above 2^126 gives 0, or NaN for an infinite dividend."""
    if 2.0**126 < abs(b) < 2.0**128:
        return math.nan if math.isinf(a) or math.isnan(a) else math.copysign(0.0, a) * math.copysign(1.0, b)
    return exact.divide(a, b, F32, "rn")


def _turn(a: float) -> float:
    """The angle that a GPU looks up: the product with 1 / (2 pi) in f32, toward zero, less its whole turns."""
    turns = exact.multiply(a, 0.15915493667125702, F32, "rz")
    return 2 * math.pi * (turns - round(turns))


# The errors that the manual allows, and more if a value is near a zero of the function, where it allows an absolute error.
def approximations() -> Iterator[Form]:
    real = lambda a: not math.isnan(a)  # noqa: E731
    finite = math.isfinite
    positive = lambda a: a >= 0  # noqa: E731
    work: dict[str, tuple[Callable[[float], float], float]] = {
        "rcp.approx": (lambda a: exact.divide(1.0, a, F32, "rn"), 2.0**-22),
        "sqrt.approx": (lambda a: exact.square_root(a, F32, "rn"), 2.0**-22),
        "rsqrt.approx": (_or_nan(_reciprocal_root, positive), 2.0**-22),
        "ex2.approx": (_or_nan(_exp2, real), 2.0**-22),
        "lg2.approx": (_or_nan(_log2, positive), 2.0**-21),
        "sin.approx": (_or_nan(lambda a: math.sin(_turn(a)), finite), 2.0**-20),
        "cos.approx": (_or_nan(lambda a: math.cos(_turn(a)), finite), 2.0**-20),
    }
    for op, (run, tolerance) in work.items():
        for ftz in ("", "ftz"):
            name = _name(op, "f32", ftz)
            inside = modified(lambda a, f=run: _to_f32(f(a)), F32, bool(ftz), False)
            yield Form(name, "f32", ("f32",), inside, tolerance=tolerance)
    yield Form("tanh.approx.f32", "f32", ("f32",), lambda a: _to_f32(math.tanh(a)), tolerance=2.0**-11)
    yield Form("div.approx.f32", "f32", ("f32", "f32"), _quotient, tolerance=2.0**-22)
    yield Form("div.approx.ftz.f32", "f32", ("f32", "f32"), modified(_quotient, F32, True, False), tolerance=2.0**-22)
    full = lambda a, b: exact.divide(a, b, F32, "rn")  # noqa: E731
    yield Form("div.full.f32", "f32", ("f32", "f32"), full, tolerance=2.0**-22)
    yield Form("div.full.ftz.f32", "f32", ("f32", "f32"), modified(full, F32, True, False), tolerance=2.0**-22)
    root = _or_nan(_reciprocal_root, positive)
    yield Form("rsqrt.approx.f64", "f64", ("f64",), root, tolerance=2.0**-22)
    # These look at the upper half of the operand, and the lower half of the result is zero.
    for op, run in (("rcp", lambda a: exact.divide(1.0, a, F64, "rn")), ("rsqrt", root)):
        work64 = modified(lambda a, f=run: f(_upper(a)), F64, True, False)
        yield Form(f"{op}.approx.ftz.f64", "f64", ("f64",), work64, tolerance=2.0**-20)
        bits = f"{{ .reg .f64 %x; .reg .b32 %z; {op}.approx.ftz.f64 %x, %a; mov.b64 {{%d, %z}}, %x; }}"
        yield Form(f"{op}.approx.ftz.f64", "u32", ("f64",), lambda a, f=work64: 0, bits)
    for half in ("f16", "bf16"):
        form = FORMATS[half]
        for op, run in (("ex2", _or_nan(_exp2, real)), ("tanh", math.tanh)):
            small = lambda a, f=run, s=form: _to(f(a), s)  # noqa: E731
            if op == "ex2" and half == "bf16":
                name, inside = "ex2.approx.ftz.", modified(small, form, True, False)
            else:
                name, inside = f"{op}.approx.", small
            yield Form(name + half, half, (half,), inside, tolerance=2.0**-7 if half == "bf16" else 2.0**-9)
            whole = pairs(name + half + "x2", half + "x2", 1, inside)
            yield Form(whole.name, whole.out, whole.ins, whole.run, tolerance=2.0**-7 if half == "bf16" else 2.0**-9)


def _upper(a: float) -> float:
    """Of a NaN as of a number: it may be an infinity then."""
    return float(struct.unpack("<d", bytes(4) + struct.pack("<d", a)[4:])[0])


def _to(value: float, form: exact.Format) -> float:
    if not math.isfinite(value) or value == 0:
        return value
    return exact.rounded(exact.Fraction(value), form)


def _to_f32(value: float) -> float:
    return _to(value, F32)


def forms() -> list[Form]:
    return [*arithmetic(), *small(), *signs_and_extremes(), *approximations()]
