"""Shapes in, shapes out: checks a call against its contract as JAX traces it, with no data behind it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
from kernpack._domain import NUMBERS, Domain, Tensor
from kernpack._solve import Solution

from . import _dtypes, _statics
from ._arguments import Config
from ._symbolic import SYMBOLS

Shape = tuple[Any, ...]  # of ints, or of jax.export's symbolic dims


def results(config: Config, operands: Sequence[Any]) -> tuple[tuple[jax.ShapeDtypeStruct, ...], Any]:
    """The shape and dtype of each result, and the size of the workspace in bytes (None: the function has none).

    Raises what the NumPy path raises for the same shapes: TypeError or ValueError naming function and parameter. Where dims
    are symbolic, what cannot be decided now is checked when the program runs.
    """
    described = tuple((tuple(operand.shape), operand.dtype) for operand in operands)
    if any(not isinstance(dim, int) for shape, _ in described for dim in shape):
        return _solved(config, described, SYMBOLS)
    return _checked(config, described, bool(jax.config.jax_enable_x64))  # type: ignore[attr-defined]


@functools.lru_cache(maxsize=8192)
def _checked(
    config: Config, described: tuple[tuple[Shape, Any], ...], x64: bool
) -> tuple[tuple[jax.ShapeDtypeStruct, ...], int | None]:
    del x64  # part of the key: which dtypes there are depends on it
    return _solved(config, described, NUMBERS)


def _solved(
    config: Config, described: tuple[tuple[Shape, Any], ...], domain: Domain
) -> tuple[tuple[jax.ShapeDtypeStruct, ...], Any]:
    function = config.function
    tensors = iter(
        [
            Tensor(shape, _dtypes.of_jax(f"{function.name}: {parameter.name}", dtype))
            for parameter, (shape, dtype) in zip(config.operands, described, strict=True)
        ]
    )
    values: list[Any] = []
    for slot in config.slots:
        if slot[0] == "tensor":
            values.append(next(tensors))
        elif slot[0] == "tensors":
            values.append([next(tensors) for _ in range(slot[1])])
        else:
            values.append(_statics.value(slot))
    solution = Solution(function.contract, values, domain, traced=True)
    found = []
    for index in range(function.num_results):
        shape, dtype = solution.result(index)
        found.append(jax.ShapeDtypeStruct(shape, _dtypes.of_result(f"{function.name}: result {index}", dtype)))
    return tuple(found), solution.workspace()
