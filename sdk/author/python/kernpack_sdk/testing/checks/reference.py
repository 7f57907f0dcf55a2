"""Compares an op with a function in Python that the author wrote: what no contract says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kernpack_sdk.testing import compare
from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding, Skipped
from kernpack_sdk.testing.checks.repeat import differs
from kernpack_sdk.testing.frameworks import NUMPY, Outcome, as_tuple, mutated

FACTOR = 4.0  # the function may add in another order, and in another precision


def reference(bench: Bench) -> Iterator[Finding]:
    """On NumPy arrays. The function returns the results; a tensor that the op writes in place, it writes too."""
    function = bench.inputs.references.get(bench.op.name)
    if function is None:
        raise Skipped(f"no --reference file has a function '{bench.op.name}'")
    for call in bench.calls:
        got = bench.run(call)
        if got.error is not None:
            yield Finding(f"expected results, but {got.refusal}", call.text())
            return
        want = _outcome(function, call, got)
        if want.error is not None:
            yield Finding(
                f"expected the function of --reference to take each call that the kernel takes, but {want.refusal}",
                call.text(),
                "make it take such arguments, or narrow the contract",
            )
            return
        if len(want.arrays) != len(got.arrays):
            yield Finding(f"expected {len(got.arrays)} results of the function, got {len(want.arrays)}", call.text())
            return
        found = differs(bench, call, want, got, FACTOR, exact=False)
        if found:
            yield Finding(
                f"expected the results of the reference function, but {found} (reference, kernel)", call.text()
            )
            return


def _outcome(function: Callable[..., Any], call: Call, got: Outcome) -> Outcome:
    """With the dtypes of the op's results: it may compute in float64."""
    values = NUMPY.values(call)
    positional, named = call.arguments(values)
    try:
        made = [*as_tuple(function(*positional, **named)), *mutated(call, values)]
        if len(made) == len(got.arrays):
            made = [_like(array, other) for array, other in zip(made, got.arrays, strict=True)]
        return Outcome(tuple(map(np.asarray, made)))
    except Exception as error:  # whatever it raises
        return Outcome(error=error)


def _like(given: Any, other: np.ndarray) -> np.ndarray:
    array = np.asarray(given)
    both = compare.is_inexact(array.dtype) and compare.is_inexact(other.dtype)
    return array.astype(other.dtype) if both else array
