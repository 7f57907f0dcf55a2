"""The dtypes of a variable compute the same, each as well as it can."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernpack_sdk.testing import compare, values
from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding, Skipped
from kernpack_sdk.testing.frameworks import list_names
from kernpack_sdk.testing.generate import Wish
from kernpack_sdk.testing.sizes import bound_names

_WIDEST = ("f64", "f32")
_SHARE = 0.25  # of the elements: fewer may differ for rounding at a step of the function


def dtypes(bench: Bench) -> Iterator[Finding]:
    contract = bench.op.contract
    assert contract is not None
    looked = False
    for variable in contract.dtype_vars:
        names = [name for name in bench.generator.allowed_dtypes(variable) if name in ("f64", "f32", "f16", "bf16")]
        best = next((name for name in _WIDEST if name in names), None)
        if best is None or len(names) < 2:
            continue
        parameters = [
            each.name for each in contract.parameters if each.tensor and each.tensor.dtype == ("var", variable)
        ]
        for name in names:
            if name == best:
                continue
            for wish in _wishes(bench, variable, name):
                call = bench.accepted(wish)
                if call is None:
                    continue
                looked = True
                finding = _compare(bench, call, parameters, variable, name, best)
                if finding is not None:
                    yield finding
                    break
    if not looked:
        raise Skipped("no dtype variable has two floating-point dtypes")


def _wishes(bench: Bench, variable: str, name: str) -> list[Wish]:
    """Small and odd sizes; and many numbers above zero, whose sum soon needs more digits than 16 bits have."""
    assert bench.op.contract is not None
    about, dtypes = f"{variable} = {name}", {variable: name}
    found = [Wish(about, profile=profile, dtypes=dtypes) for profile in ("small", "odd")]
    dims, _ = bound_names(bench.op.contract, frozenset(each.name for each in bench.op.contract.parameters))
    if dims:
        found.append(Wish(about, profile="large", which=dims[-1], dtypes=dtypes, floats="positive"))
    return found * (3 if bench.options.full else 1)


def _compare(bench: Bench, call: Call, parameters: list[str], variable: str, name: str, best: str) -> Finding | None:
    wide = values.numpy_dtype(best)
    assert wide is not None
    wider = call.replaced(**{each: _as(call.values[each], wide) for each in parameters})
    own, better = bench.run(call), bench.run(wider)
    if own.error is not None or better.error is not None:
        return None
    for result, a, b in zip(list_names(call, own), own.arrays, better.arrays, strict=True):
        if not compare.is_inexact(a.dtype) or a.dtype == b.dtype or not a.size:
            continue
        with np.errstate(all="ignore"):
            rounded = b.astype(a.dtype)
        wrong = compare.differing(a, rounded, exact=False, bound=4 * compare.tolerance(a.dtype))
        if wrong.mean() > _SHARE:
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            return Finding(
                f"expected {variable} = {name} to give the results of {variable} = {best}, rounded, but {result}{list(at)} is {a[at]}, "
                f"and {rounded[at]} of {best} ({int(wrong.sum())} of {wrong.size} elements)",
                call.text(),
                f"look at the code for {name}: conversions, and sums kept in {name}",
            )
    return None


def _as(value: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(value, list):
        return [_as(item, dtype) for item in value]
    return value.astype(dtype) if isinstance(value, np.ndarray) else value
