"""Checks the promises of `...`, `independent` and `sum`: rows, columns and shares are computed as if they were alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from kernpack._contract import Contract, TensorType

from kernpack_sdk.testing import compare
from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding, Skipped
from kernpack_sdk.testing.checks.repeat import error_bound
from kernpack_sdk.testing.frameworks import Outcome, list_names

Part = Callable[[TensorType, np.ndarray], np.ndarray]


def rows(bench: Bench) -> Iterator[Finding]:
    """Each row of the batch, called alone, gives its row of the results; results marked `sum` add up."""
    contract = get_contract(bench)
    if not any(each.tensor and each.tensor.batch == "..." for each in contract.parameters):
        raise Skipped("the contract has no `...`")
    for call in bench.calls:
        if not call.batch or not all(call.batch):
            continue
        whole = bench.run(call)
        size = call.batch[0]
        chosen = (
            range(size) if bench.options.full and size <= 16 else sorted({0, size // 2, max(size - 2, 0), size - 1})
        )
        for i in chosen:
            found = _row_differs(bench, contract, call, whole, i)
            if found:
                yield Finding(
                    f"expected row {i} of the batch, called alone, to give row {i} of the results, but {found} (in the batch, alone)",
                    call.text(),
                    "`...` means that each row is computed independently: drop it from the contract, or check the loops over rows and over the last, partial vector",
                )
                return
        if len(call.batch) == 1 and size <= 9:
            yield from _sums(bench, contract, call, whole)


def get_contract(bench: Bench) -> Contract:
    assert bench.op.contract is not None
    return bench.op.contract


def take_part(contract: Contract, call: Call, part: Part) -> Call:
    """The call on a part of each tensor."""
    values = {}
    for parameter in contract.parameters:
        value = call.values[parameter.name]
        tensor = parameter.tensor
        if tensor is not None and isinstance(value, list):
            value = [np.ascontiguousarray(part(tensor, item)) for item in value]
        elif tensor is not None and isinstance(value, np.ndarray):
            cut = part(tensor, value)
            value = np.ascontiguousarray(cut).reshape(cut.shape)
        values[parameter.name] = value
    return call.replaced(**values)


def get_axes(tensor: TensorType, ndim: int, name: str, batch: int = 0) -> list[int]:
    """Which axes of an array of `ndim` dims are the dim of that name. Terms ahead of a dims tuple are counted from the front, behind
    `batch` dims of `...`; all others from the back."""
    ahead = next((i for i, (op, _) in enumerate(tensor.dims) if op == "tuple"), 0)
    return [
        batch + i if i < ahead else ndim - len(tensor.dims) + i
        for i, dim in enumerate(tensor.dims)
        if dim == ("var", name)
    ]


def outcome_types(contract: Contract, call: Call) -> list[TensorType]:
    """The contract's type of each array of an outcome."""
    types = [contract.results[i].tensor for i in contract.returned]
    for parameter in contract.parameters:
        value = call.values[parameter.name]
        if parameter.mutated and value is not None and parameter.tensor is not None:
            types += [parameter.tensor] * (len(value) if isinstance(value, list) else 1)
    return types


def _row_differs(bench: Bench, contract: Contract, call: Call, whole: Outcome, i: int) -> str:
    rank = len(call.batch)

    def row(tensor: TensorType, array: np.ndarray) -> np.ndarray:
        if tensor.batch is None or array.ndim - _own_rank(tensor, array) < rank:
            return array
        return array[0] if array.shape[0] == 1 else array[i]

    alone = bench.run(take_part(contract, call, row))
    if alone.error is not None or whole.error is not None:
        return ""
    names = list_names(call, whole)
    for name, tensor, all_of_it, own in zip(
        names, outcome_types(contract, call), whole.arrays, alone.arrays, strict=True
    ):
        if tensor.batch == "...":
            found = compare.difference([name], [all_of_it[i]], [own], exact=False, bound=4 * error_bound(call))
            if found:
                return found
    return ""


def _own_rank(tensor: TensorType, array: np.ndarray) -> int:
    return len(tensor.terms) if not tensor.has_tuple else array.ndim


def _sums(bench: Bench, contract: Contract, call: Call, whole: Outcome) -> Iterator[Finding]:
    marked = [i for i, index in enumerate(contract.returned) if contract.results[index].sum]
    if not marked or whole.error is not None:
        return
    parts = []
    for i in range(call.batch[0]):

        def row(tensor: TensorType, array: np.ndarray, i: int = i) -> np.ndarray:
            return array if tensor.batch is None else array[:1] if array.shape[0] == 1 else array[i : i + 1]

        part = bench.run(take_part(contract, call, row))
        if part.error is not None:
            return
        parts.append(part.arrays)
    for index in marked:
        name = list_names(call, whole)[index]
        total = sum(compare.widened(each[index]) for each in parts)
        found = compare.difference(
            [name],
            [whole.arrays[index]],
            [np.asarray(total).astype(whole.arrays[index].dtype)],
            exact=False,
            bound=20 * error_bound(call),
        )
        if found:
            yield Finding(
                f"expected {name}, marked `sum`, to be the sum over the rows of the batch, but {found} (whole, sum of the rows)",
                call.text(),
                "drop `sum`, or compute the sum: shards of a batch are added up by the framework",
            )
            return


def columns(bench: Bench) -> Iterator[Finding]:
    """A part of a dim that `independent` names gives that part of the results."""
    contract = get_contract(bench)
    if not contract.independent:
        raise Skipped("the contract names no independent dims")
    for call in bench.calls:
        for name in contract.independent:
            size = call.dims.get(name, 0)
            if size < 2:
                continue
            chosen = slice(size // 3, size - size // 4)

            def cut(tensor: TensorType, array: np.ndarray, name: str = name, chosen: slice = chosen) -> np.ndarray:
                return array[tuple(_index(tensor, array, name, chosen))]

            whole, part = bench.run(call), bench.run(take_part(contract, call, cut))
            if whole.error is not None or part.error is not None:
                continue
            types = outcome_types(contract, call)
            expected = [cut(tensor, array) for tensor, array in zip(types, whole.arrays, strict=True)]
            found = compare.difference(
                list_names(call, whole), expected, part.arrays, exact=False, bound=4 * error_bound(call)
            )
            if found:
                yield Finding(
                    f"expected a part of {name}, which is independent, to give that part of the results, but {found} (of the whole, alone)",
                    call.text(),
                    f"take {name} out of independent(...), or look for what mixes its elements",
                )
                return


def _index(tensor: TensorType, array: np.ndarray, name: str, chosen: slice) -> list[Any]:
    """An index that cuts every dim of that name."""
    index: list[Any] = [slice(None)] * array.ndim
    if tensor.has_tuple:
        return index
    for axis in get_axes(tensor, array.ndim, name):
        index[axis] = chosen
    return index
