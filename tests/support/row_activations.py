"""The activations of one tensor that kernels/activations/row_activations.h declares: exact values and slopes, for tests and the site."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


def silu(x: Any) -> Any:
    e = np.exp(-np.abs(x))
    return x * np.where(x > 0, 1, e) / (1 + e)


def silu_slope(x: Any) -> Any:
    x = np.clip(x, -700, 700)
    share = 1 / (1 + np.exp(-x))
    return share + x * share * (1 - share)


def relu2(x: Any) -> Any:
    return np.maximum(x, 0) ** 2


def relu2_slope(x: Any) -> Any:
    return 2 * np.maximum(x, 0)


def mish(x: Any) -> Any:
    return x * np.tanh(np.logaddexp(0, x))


def mish_slope(x: Any) -> Any:
    x = np.clip(x, -700, 300)
    softplus = np.logaddexp(0, x)
    return np.tanh(softplus) + x / np.cosh(softplus) ** 2 / (1 + np.exp(-x))


class RowActivation(NamedTuple):
    value: Callable[[Any], Any]  # from -700 on
    slope: Callable[[Any], Any]  # its limit at an infinity
    formula: str  # on the op's page


ROW_ACTIVATIONS = {
    "mish": RowActivation(mish, mish_slope, "out = x tanh(log(1 + exp(x)))"),
    "relu2": RowActivation(relu2, relu2_slope, "out = max(x, 0)^2"),
    "silu": RowActivation(silu, silu_slope, "out = x / (1 + exp(-x))"),
}
