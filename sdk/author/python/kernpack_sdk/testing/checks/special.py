"""NaN and infinity: no crash, and no way from one row of a batch into another."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from kernpack._contract import TensorType

from kernpack_sdk.testing import compare
from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding, Skipped
from kernpack_sdk.testing.checks.batch import outcome_types, take_part
from kernpack_sdk.testing.checks.repeat import error_bound
from kernpack_sdk.testing.frameworks import list_names
from kernpack_sdk.testing.generate import Wish


def special_calls(bench: Bench) -> list[Call]:
    """Calls with NaNs, infinities and zeros in their floats."""
    if bench.op.contract is None or not any(
        compare.is_inexact(array.dtype) for call in bench.calls for array in call.arrays()
    ):
        return []
    wishes = [Wish("NaN and infinity", profile=profile, floats="special") for profile in ("small", "odd", "odd")]
    for variable in bench.op.contract.dtype_vars:
        for name in bench.generator.allowed_dtypes(variable)[1:]:
            wishes.append(Wish(f"NaN and infinity in {name}", floats="special", dtypes={variable: name}))
    found = [bench.accepted(wish) for wish in wishes]
    return [call for call in found if call is not None]


def special(bench: Bench) -> Iterator[Finding]:
    calls = special_calls(bench)
    if not calls:
        raise Skipped("no argument is a float")
    known = {text for _, text in bench.check_errors}
    for call in calls:  # made in the checking mode: what a NaN leads outside of a tensor is found there
        outcome = bench.checked(call)
        if outcome.error is not None and type(outcome.error).__name__ == "CheckError" and not bench.check_errors:
            yield Finding(f"expected the function to accept NaN and infinity, but {outcome.error}", call.text())
            return
    assert bench.op.contract is not None
    for call in bench.calls:
        if len(call.batch) != 1 or call.batch[0] < 2 or str(known) == call.text():
            continue
        finding = _leaks(bench, call)
        if finding is not None:
            yield finding
            return


def _leaks(bench: Bench, call: Call) -> Finding | None:
    """A NaN in the last row alone changes the last row alone."""
    contract = bench.op.contract
    assert contract is not None
    last = call.batch[0] - 1

    def poisoned(tensor: TensorType, array: np.ndarray) -> np.ndarray:
        if tensor.batch is None or not compare.is_inexact(array.dtype) or array.shape[0] != call.batch[0]:
            return array
        array = array.copy()
        array[last] = np.nan
        return array

    plain, with_nan = bench.run(call), bench.run(take_part(contract, call, poisoned))
    if plain.error is not None or with_nan.error is not None:
        return None
    types = outcome_types(contract, call)
    for name, tensor, a, b in zip(list_names(call, plain), types, plain.arrays, with_nan.arrays, strict=True):
        if tensor.batch != "...":
            continue
        found = compare.difference([name], [a[:last]], [b[:last]], exact=False, bound=4 * error_bound(call))
        if found:
            return Finding(
                f"expected a NaN in row {last} of the batch to stay in that row, but {found} (without it, with it)",
                call.text(),
                "the rows of `...` must be independent; look for 0 * x and sums over what lies beside a row",
            )
    return None
