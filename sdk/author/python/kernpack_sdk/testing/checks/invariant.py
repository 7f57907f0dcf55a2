"""Checks the promise of `invariant`: the results of a part of a dim have the same bits alone and in every batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from kernpack._contract import Contract, TensorType

from kernpack_sdk.testing import compare, device
from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding, Skipped
from kernpack_sdk.testing.checks.batch import get_axes, get_contract, outcome_types, take_part
from kernpack_sdk.testing.frameworks import Outcome, list_names

# Kernels take rows in blocks of 2 to 64 and leave a rest: all of these are more than one block and a rest of another size.
_ROWS = 70
_PARTS = (1, 2, 3, 4, 5, 8, 13, 33, _ROWS - 1)
_DEVICE_PARTS = (1, 6)  # the emulated device takes a thousand times as long
_ELEMENTS = 1 << 21  # of a tensor, so that a call takes milliseconds


@dataclass(frozen=True)
class _Place:
    """Where calls are compared. run: makes one; parts: the sizes of batches."""

    run: Callable[[Call], Outcome]
    calls: list[Call]
    parts: tuple[int, ...]
    says: str = ""


def invariant(bench: Bench) -> Iterator[Finding]:
    """The first, middle and last items of many, in batches of several sizes, have the bits that they have among all."""
    contract = get_contract(bench)
    if not contract.invariant:
        raise Skipped("the contract names no invariant dims")
    for name in contract.invariant:
        compared = 0
        for place in _places(bench):
            for call in place.calls:
                for found in _of_call(contract, place, call, name):
                    if found:
                        yield found
                        return
                    compared += 1
        if not compared:
            raise Skipped(f"no call has two items along {_said(name)} and accepts fewer: nothing could be compared")


def _places(bench: Bench) -> Iterator[_Place]:
    """The CPU, and the device of what has code for it, where there is one."""
    if bench.on_cpu:
        yield _Place(bench.run, bench.calls, _PARTS)
    if device.first_device() is not None and device.has_code(bench.op):
        on = device.OnDevice()

        def run(call: Call) -> Outcome:
            bench.starts(call, " on the device")
            return on.call(call)

        yield _Place(run, bench.few(3), _DEVICE_PARTS, " on the device")


def _of_call(contract: Contract, place: _Place, call: Call, name: str) -> Iterator[Finding | None]:
    """A finding, or None, for each part that was compared. If the op's conditions tie the size to another size, so that
    the op refuses a longer batch, the call stays as it was drawn."""
    for whole in (repeated(call, name), call):
        size = extent(whole, name) if whole else 0
        if not whole or size < 2:
            continue
        outcome = place.run(whole)
        if outcome.error is not None:
            continue
        for count in (each for each in place.parts if each < size):
            for first in sorted({0, (size - count) // 2, size - count}):
                yield from _of_part(contract, place, whole, outcome, name, slice(first, first + count))
        return


def _of_part(
    contract: Contract, place: _Place, call: Call, whole: Outcome, name: str, part: slice
) -> Iterator[Finding | None]:
    alone = place.run(take_part(contract, call, lambda tensor, array: _cut(call, tensor, array, name, part)))
    if alone.error is not None:
        return
    results = zip(list_names(call, whole), outcome_types(contract, call), whole.arrays, alone.arrays, strict=True)
    for result, tensor, all_of_it, own in results:
        if not axes(call, tensor, all_of_it, name):
            continue
        found = compare.difference([result], [_cut(call, tensor, all_of_it, name, part)], [own], exact=True)
        if found:
            yield Finding(
                f"expected items {part.start} to {part.stop - 1} of the {extent(call, name)} along {_said(name)} to have the same "
                f"bits in a batch of {part.stop - part.start}{place.says}, but {found} (among all, in the small batch)",
                call.text(),
                f"take {_said(name)} out of invariant(...), or choose blocks and the order of sums by the other sizes alone",
            )
            return
    yield None


def _said(name: str) -> str:
    return "batch" if name == "..." else name


def axes(call: Call, tensor: TensorType, array: np.ndarray, name: str) -> list[int]:
    """Which axes of a tensor have that dim; of the batch, the first one that this tensor shares."""
    batch = _get_batch(call)
    if name == "...":
        if tensor.batch is None or not batch:
            return []
        if tensor.batch == "~..." and (array.ndim - len(tensor.terms) < len(batch) or array.shape[0] != batch[0]):
            return []
        return [0]
    return get_axes(tensor, array.ndim, name, 0 if tensor.batch is None else len(batch))


def _tensors(call: Call) -> Iterator[tuple[TensorType, np.ndarray]]:
    assert call.op.contract is not None
    for parameter in call.op.contract.parameters:
        value = call.values[parameter.name]
        for item in value if isinstance(value, list) else [value]:
            if parameter.tensor is not None and isinstance(item, np.ndarray):
                yield parameter.tensor, item


def _get_batch(call: Call) -> tuple[int, ...]:
    """The shape of `...`; arguments that come from the author's generator don't say it."""
    for tensor, array in _tensors(call):
        if tensor.batch == "..." and not tensor.has_tuple:
            return array.shape[: array.ndim - len(tensor.terms)]
    return call.batch


def extent(call: Call, name: str) -> int:
    """Along the axis of the first tensor that has it; 0 where none does."""
    return next(
        (array.shape[found[0]] for tensor, array in _tensors(call) if (found := axes(call, tensor, array, name))), 0
    )


def _cut(call: Call, tensor: TensorType, array: np.ndarray, name: str, part: slice) -> np.ndarray:
    index: list[slice] = [slice(None)] * array.ndim
    for axis in axes(call, tensor, array, name):
        index[axis] = part
    return array[tuple(index)]


def repeated(call: Call, name: str) -> Call | None:
    """The call with its items again and again, up to _ROWS; None where it has none or they are large."""
    size = extent(call, name)
    if not size or any(array.size // size * _ROWS > _ELEMENTS for array in call.arrays()):
        return None
    indices = np.arange(_ROWS) % size

    def again(tensor: TensorType, array: np.ndarray) -> np.ndarray:
        for axis in axes(call, tensor, array, name):
            array = np.take(array, indices, axis)
        return array

    assert call.op.contract is not None
    return take_part(call.op.contract, call, again)
