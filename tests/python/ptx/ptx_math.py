"""NVIDIA's math functions: where they are tried, by what they are computed, and the errors that are documented.

The errors are those of the CUDA C++ Programming Guide's appendix on mathematical functions: the greatest difference, in ulp,
from the correctly rounded result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
from mpmath import mp


@dataclass(frozen=True)
class Function:
    name: str  # of the f64 function; that of f32 ends in "f"
    exact: Callable[..., Any]
    f32: float | None  # documented error in ulp; None where it isn't tried
    f64: float | None
    domain: tuple[float, float]  # of each operand
    arity: int = 1
    logarithmic: bool = False  # operands of every exponent in the domain


def _real_power(x: Any, y: Any) -> Any:
    return mpmath.power(x, y)


def _cube_root(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


FUNCTIONS = [
    Function("exp", mpmath.exp, 1, 1, (-87, 88)),
    Function("exp2", lambda x: mpmath.power(2, x), 2, 1, (-126, 127)),
    Function("exp10", lambda x: mpmath.power(10, x), 2, 1, (-37, 38)),
    Function("expm1", mpmath.expm1, 1, 1, (-20, 88)),
    Function("expm1", mpmath.expm1, 1, 1, (-1, 1), logarithmic=True),
    Function("log", mpmath.log, 1, 1, (1e-37, 1e38), logarithmic=True),
    Function("log", mpmath.log, 1, 1, (0.5, 2)),
    Function("log2", lambda x: mpmath.log(x, 2), 1, 1, (1e-37, 1e38), logarithmic=True),
    Function("log10", mpmath.log10, 2, 1, (1e-37, 1e38), logarithmic=True),
    Function("log1p", mpmath.log1p, 1, 1, (-0.999, 10)),
    Function("log1p", mpmath.log1p, 1, 1, (1e-30, 1e30), logarithmic=True),
    Function("sin", mpmath.sin, 2, 2, (-100, 100)),
    Function("sin", mpmath.sin, 2, 2, (1e5, 1e30), logarithmic=True),
    Function("cos", mpmath.cos, 2, 2, (-100, 100)),
    Function("cos", mpmath.cos, 2, 2, (1e5, 1e30), logarithmic=True),
    Function("tan", mpmath.tan, 4, 2, (-100, 100)),
    Function("sinpi", mpmath.sinpi, 1, 2, (-50, 50)),
    Function("cospi", mpmath.cospi, 1, 2, (-50, 50)),
    Function("asin", mpmath.asin, 2, 2, (-1, 1)),
    Function("acos", mpmath.acos, 2, 2, (-1, 1)),
    Function("atan", mpmath.atan, 2, 2, (1e-10, 1e10), logarithmic=True),
    Function("atan2", mpmath.atan2, 3, 2, (-10, 10), arity=2),
    Function("sinh", mpmath.sinh, 3, 2, (-85, 85)),
    Function("cosh", mpmath.cosh, 2, 1, (-85, 85)),
    Function("tanh", mpmath.tanh, 2, 1, (-10, 10)),
    Function("tanh", mpmath.tanh, 2, 1, (1e-10, 1), logarithmic=True),
    Function("asinh", mpmath.asinh, 3, 3, (-1e3, 1e3)),
    Function("acosh", mpmath.acosh, 4, 3, (1, 1e10), logarithmic=True),
    Function("atanh", mpmath.atanh, 3, 2, (-1, 1)),
    Function("pow", _real_power, 4, 2, (0.01, 10), arity=2),
    Function("cbrt", _cube_root, 1, 1, (-1e5, 1e5)),
    Function("rcbrt", lambda x: 1 / _cube_root(x), 1, 1, (1e-30, 1e30), logarithmic=True),
    Function("rsqrt", lambda x: 1 / mpmath.sqrt(x), 2, 1, (1e-37, 1e38), logarithmic=True),
    Function("sqrt", mpmath.sqrt, 0, 0, (1e-37, 1e38), logarithmic=True),
    Function("hypot", mpmath.hypot, 3, 2, (-1e10, 1e10), arity=2),
    Function("erf", mpmath.erf, 2, 2, (-4, 4)),
    Function("erfc", mpmath.erfc, 4, 5, (-5, 9)),
    Function("erfcx", lambda x: mpmath.exp(mpmath.mpf(x) ** 2) * mpmath.erfc(x), 4, 4, (-5, 20)),
    Function("erfinv", mpmath.erfinv, 2, 5, (-0.999, 0.999)),
    Function("normcdf", mpmath.ncdf, 5, 5, (-10, 5)),
    Function("lgamma", mpmath.loggamma, 6, 4, (0.1, 100)),
    Function("tgamma", mpmath.gamma, 5, 10, (0.1, 30)),
    Function("fmod", lambda x, y: mpmath.fmod(abs(x), abs(y)) * mpmath.sign(x), 0, 0, (-1e5, 1e5), arity=2),
    Function("fdim", lambda x, y: x - y if x > y else mp.zero, 0, 0, (-10, 10), arity=2),
]

# Of f32 alone, in ulp or as the absolute error that is documented near a zero of the function.
INTRINSICS = {
    "__expf": (mpmath.exp, (-10, 10), lambda x: 2 + int(abs(1.173 * x)), None),
    "__exp10f": (lambda x: mpmath.power(10, x), (-5, 5), lambda x: 2 + int(abs(2.97 * x)), None),
    "__logf": (mpmath.log, (0.5, 2), None, 2.0**-21.41),
    "__log2f": (lambda x: mpmath.log(x, 2), (0.5, 2), None, 2.0**-22),
    "__log10f": (mpmath.log10, (0.5, 2), None, 2.0**-24),
    "__sinf": (mpmath.sin, (-3.14159, 3.14159), None, 2.0**-21.41),
    "__cosf": (mpmath.cos, (-3.14159, 3.14159), None, 2.0**-21.19),
}
