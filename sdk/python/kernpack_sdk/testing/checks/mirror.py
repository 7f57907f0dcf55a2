"""Sizes that a kernel gets wrong where nothing says what is right.

Many ops don't care in which order a dim's elements come: reversed arguments give reversed results, or the same sum. Which ones
isn't in a contract, so it is looked up: where that holds at nearly all sizes, or at all multiples of a vector's width, the sizes
where it doesn't are wrong. Ops for which it holds nowhere (a cumulative sum, a convolution) are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from kernpack._contract import Contract, TensorType

from kernpack_sdk.testing import compare
from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding, Skipped
from kernpack_sdk.testing.checks.batch import outcome_types, part_of
from kernpack_sdk.testing.frameworks import names_of
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
_MOST = 0.75  # of the sizes at which it has to hold, to be taken for the rule
_WIDTHS = (4, 8, 16, 32, 64)


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
    names = [
        name
        for name in bound_names(contract, frozenset(each.name for each in contract.parameters))[0]
        if name not in taken
    ]
    batched = not names and any(tensor.batch == "..." for tensor in tensors)
    if not names and not batched:
        raise Skipped("no dim is free of conditions")
    for name in names or ["..."]:
        yield from _mirror_one(bench, contract, name)


def _is_plain(tensor: TensorType, contract: Contract) -> bool:
    """Of floats or bools, whose values are no positions."""
    form, name = tensor.dtype
    names = contract.dtype_vars.get(name) or (name,) if form == "var" else (name,)
    return all(each[0] in "fbc" for each in names)


def _mirror_one(bench: Bench, contract: Contract, name: str) -> Iterator[Finding]:
    holds: dict[int, str] = {}
    calls: dict[int, Call] = {}
    for size in _SIZES:
        sizes, batch = ({}, (size,)) if name == "..." else ({name: size}, (2,))
        call = bench.accepted(Wish("mirrored", sizes=sizes, batch=batch))
        if call is None or (call.dims.get(name, size) != size):
            continue
        found = _difference(bench, contract, call, name)
        if found is not None:
            holds[size], calls[size] = found, call
    wrong = [size for size, text in holds.items() if text]
    right = [size for size, text in holds.items() if not text]
    if not wrong or len(holds) < 12:
        return
    width = next((w for w in _WIDTHS if _only_multiples(right, wrong, w)), 0)
    if not width and len(right) < _MOST * len(holds):
        return
    shown = wrong[-1] if width else wrong[0]
    where = f"all multiples of {width}" if width else f"{len(right)} of {len(holds)} sizes"
    what = "the batch" if name == "..." else name
    yield Finding(
        f"expected {what} = {shown} to be treated as other sizes are: with the elements of {what} in reverse, results are reversed "
        f"or the same at {where}, but not at {', '.join(map(str, wrong[:8]))}{', ...' if len(wrong) > 8 else ''}: {holds[shown]}",
        calls[shown].text(),
        "look at what is done with the elements behind the last full vector or block",
    )


def _only_multiples(right: list[int], wrong: list[int], width: int) -> bool:
    """Right at the multiples of the width, wrong nearly everywhere else."""
    multiples = [size for size in right if size % width == 0]
    others = [size for size in right if size % width]
    return len(multiples) >= 5 and not any(size % width == 0 for size in wrong) and len(others) <= 0.2 * len(wrong)


def _difference(bench: Bench, contract: Contract, call: Call, name: str) -> str | None:
    def reverse(tensor: TensorType, array: np.ndarray) -> np.ndarray:
        if tensor.has_tuple:
            return array
        for i, (op, operand) in enumerate(reversed(tensor.dims)):
            if op == "var" and operand == name:
                array = np.flip(array, array.ndim - 1 - i)
        if name == "..." and tensor.batch is not None and array.ndim > len(tensor.terms):
            array = np.flip(array, array.ndim - 1 - len(tensor.terms))
        return array

    plain, mirrored = bench.run(call), bench.run(part_of(contract, call, reverse))
    if plain.error is not None or mirrored.error is not None:
        return None
    types = outcome_types(contract, call)
    back = [reverse(tensor, array) for tensor, array in zip(types, mirrored.arrays, strict=True)]
    return compare.difference(names_of(call, plain), plain.arrays, back, exact=False, factor=10)
