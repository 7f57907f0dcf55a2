"""Sizes that a kernel gets wrong where nothing says what is right.

Many ops treat the elements of a dim alike: reversed arguments give reversed results, or the same sum; and the first elements of a
result come from the first elements of the arguments. Which ops do isn't in a contract, so it is looked up: where that holds at nearly
all sizes, or at all multiples of a vector's width, the sizes where it doesn't are wrong. Ops for which it holds nowhere (a
convolution, say) are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from kernpack._contract import Contract, TensorType

from kernpack_sdk.testing import compare
from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding, Skipped
from kernpack_sdk.testing.checks.batch import get_axes, outcome_types, take_part
from kernpack_sdk.testing.checks.repeat import error_bound
from kernpack_sdk.testing.frameworks import Outcome, list_names
from kernpack_sdk.testing.generate import Wish
from kernpack_sdk.testing.sizes import all_tensors, bound_names

_SIZES = (
    *range(2, 21),
    24,
    31,
    32,
    33,
    35,
    40,
    48,
    63,
    64,
    65,
    67,
    96,
    127,
    128,
    129,
    160,
    255,
    256,
    257,
    512,
    1000,
    1023,
    1025,
)
_LEAST = 12  # of these have to be possible
_MOST = 0.6  # of the sizes at which it has to hold, to be taken for the rule
_WIDTHS = (4, 8, 16, 32, 64)

# Takes the elements of one tensor's dim from behind, or the first of them.
Change = Callable[[np.ndarray, int], np.ndarray]


def _reverse(array: np.ndarray, axis: int) -> np.ndarray:
    return np.flip(array, axis)


def _first(array: np.ndarray, axis: int) -> np.ndarray:
    return array[(slice(None),) * axis + (slice(0, 3),)]


_RELATIONS: dict[str, tuple[Change, str]] = {
    "with its elements in reverse, results are reversed or the same": (_reverse, "forwards, reversed"),
    "without all but its first 3 elements, their results are the same": (_first, "of all, of the first 3"),
}


def mirror(bench: Bench) -> Iterator[Finding]:
    contract = bench.op.contract
    assert contract is not None
    if any(
        each.kind == "int" or (each.tensor and not _is_plain(each.tensor, contract)) for each in contract.parameters
    ):
        raise Skipped("integers among the arguments may be positions")
    taken = {name for condition in contract.where for operand in condition.operands for name in operand.names}
    tensors = all_tensors(contract)
    taken |= {name for tensor in tensors for op, code in tensor.dims if op == "code" for name in code.names}
    bound = bound_names(contract, frozenset(each.name for each in contract.parameters))[0]
    names = [name for name in bound if name not in taken]
    if not bound and any(tensor.batch == "..." for tensor in tensors):
        names = ["..."]
    if not names:
        raise Skipped("no dim is free of conditions")
    for name in names:
        calls = dict(_calls(bench, name))
        for words, (change, pair) in _RELATIONS.items():
            finding = _exceptions(bench, contract, name, calls, words, change, pair)
            if finding is not None:
                yield finding
                break


def _is_plain(tensor: TensorType, contract: Contract) -> bool:
    """Of floats or bools, whose values aren't positions."""
    form, name = tensor.dtype
    names = contract.dtype_vars.get(name) or (name,) if form == "var" else (name,)
    return all(each[0] in "fbc" for each in names)


def _calls(bench: Bench, name: str) -> Iterator[tuple[int, tuple[Call, Outcome]]]:
    """By the size of the dim: a call and what it gave."""
    for size in _SIZES:
        sizes, batch = ({}, (size,)) if name == "..." else ({name: size}, (2,))
        call = bench.accepted(Wish("mirrored", sizes=sizes, batch=batch))
        if call is None or call.dims.get(name, size) != size:
            continue
        outcome = bench.run(call)
        if outcome.error is None:
            yield size, (call, outcome)


def _exceptions(
    bench: Bench,
    contract: Contract,
    name: str,
    calls: dict[int, tuple[Call, Outcome]],
    words: str,
    change: Change,
    pair: str,
) -> Finding | None:
    """The sizes at which the relation does not hold, though it is the rule."""
    holds = {}
    for size, (call, outcome) in calls.items():
        found = _difference(bench, contract, call, outcome, name, change)
        if found is not None:
            holds[size] = found
    wrong = [size for size, text in holds.items() if text]
    right = [size for size, text in holds.items() if not text]
    if not wrong or len(holds) < _LEAST:
        return None
    width = next((w for w in _WIDTHS if _only_multiples(right, wrong, w)), 0)
    if not width and len(right) < _MOST * len(holds):
        return None
    shown = wrong[-1] if width else wrong[0]
    where = f"all multiples of {width}" if width else f"{len(right)} of {len(holds)} sizes"
    what = "the batch" if name == "..." else name
    these = f"{', '.join(map(str, wrong[:8]))}{', ...' if len(wrong) > 8 else ''}"
    return Finding(
        f"expected {what} = {shown} to behave like other sizes: {words} at {where}, but not at {these}: "
        f"{holds[shown]} ({pair})",
        calls[shown][0].text(),
        "look at what is done with the elements after the last full vector or block, and at limits on sizes",
    )


def _only_multiples(right: list[int], wrong: list[int], width: int) -> bool:
    """Right at the multiples of the width, wrong nearly everywhere else."""
    multiples = [size for size in right if size % width == 0]
    others = [size for size in right if size % width and size > width]
    return len(multiples) >= 5 and not any(size % width == 0 for size in wrong) and len(others) <= 0.2 * len(wrong)


def _difference(bench: Bench, contract: Contract, call: Call, plain: Outcome, name: str, change: Change) -> str | None:
    def changed(tensor: TensorType, array: np.ndarray) -> np.ndarray:
        if tensor.has_tuple:
            return array
        for axis in get_axes(tensor, array.ndim, name):
            array = change(array, axis)
        if name == "..." and tensor.batch is not None and array.ndim > len(tensor.terms):
            array = change(array, array.ndim - 1 - len(tensor.terms))
        return array

    other = bench.run(take_part(contract, call, changed))
    if other.error is not None:
        return None
    types = outcome_types(contract, call)
    expected = [changed(tensor, array) for tensor, array in zip(types, plain.arrays, strict=True)]
    return compare.difference(
        list_names(call, plain), expected, other.arrays, exact=False, bound=10 * error_bound(call)
    )
