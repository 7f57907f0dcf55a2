"""Derivatives of a reference in NumPy by a complex step: no difference is taken, so none of the digits is lost.

f(x + ih t) is f(x) + ih f'(x) t up to h^2, which is nothing beside it. The references take complex arrays for that: they use no
absolute value and no comparison of what varies.
"""

import numpy as np

STEP = np.longdouble("1e-1000")  # x86: the exponent goes to -4932


def wide(*arrays):
    return tuple(np.asarray(a, np.longdouble) for a in arrays)


def _step(value, tangent):
    return np.asarray(value, np.clongdouble) + 1j * STEP * np.asarray(tangent, np.longdouble)


def jvp(f, values, tangents):
    """The tangents of f's results (a tuple) along those of its arguments; None stands for zeros."""
    with np.errstate(all="ignore"):
        results = f(*(v if t is None else _step(v, t) for v, t in zip(wide(*values), tangents, strict=True)))
    return tuple(np.asarray(r, np.clongdouble).imag / STEP for r in results)


def vjp(f, values, cotangents):
    """The gradients of sum(cotangents * f(*values)), an element at a time; the results of f are a tuple."""
    values = wide(*values)
    gradients = []
    for k, value in enumerate(values):
        gradient = np.zeros_like(value)
        for at in np.ndindex(value.shape):
            unit = np.zeros_like(value)
            unit[at] = 1
            slopes = jvp(f, values, tuple(unit if i == k else None for i in range(len(values))))
            gradient[at] = sum((c * s).sum() for c, s in zip(wide(*cotangents), slopes, strict=True))
        gradients.append(gradient)
    return tuple(gradients)
