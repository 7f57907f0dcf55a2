"""Options that a contract offers do something."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from kernpack._contract import Parameter

from kernpack_sdk.testing import compare, ties, values
from kernpack_sdk.testing.bench import Bench
from kernpack_sdk.testing.case import Call, Finding, Skipped
from kernpack_sdk.testing.frameworks import list_names
from kernpack_sdk.testing.generate import Wish

_CALLS = 3  # of each profile, with defaults


def influence(bench: Bench) -> Iterator[Finding]:
    """Of each optional parameter, and each number with a default: some call gives other results when it changes."""
    contract = bench.op.contract
    assert contract is not None
    offered = [each for each in contract.parameters if _is_offered(bench, each)]
    if not offered:
        raise Skipped("the contract has no options")
    for parameter in offered:
        compared = 0
        tied = ties.is_tied(contract, parameter.name)
        for call in _calls_with(bench, parameter, tied):
            if tied and not ties.matters(call, parameter.name):
                continue
            outcomes = [bench.run(call.replaced(**{parameter.name: value})) for value in _others(parameter, call)]
            known = [outcome for outcome in outcomes if outcome.error is None and any(a.size for a in outcome.arrays)]
            base = bench.run(call)
            if base.error is not None or not known:
                continue
            compared += 1
            names = list_names(call, base)
            if any(compare.difference(names, base.arrays, each.arrays, exact=True) for each in known):
                break
        else:
            if compared >= 2:
                yield Finding(
                    f"expected {parameter.name} to change a result, but none of {compared} calls gave another result with another value",
                    call.text(),
                    f"use {parameter.name} in the kernel, or take it out of the contract",
                )


def _is_offered(bench: Bench, parameter: Parameter) -> bool:
    if parameter.mutated or parameter.is_list or _is_the_authors(bench, parameter):
        return False
    if bench.op.name in bench.op.module._derivatives:
        return False  # what arrives there may have no derivative: that of an index, or of a shape
    if parameter.is_tensor:
        return parameter.optional
    return _is_number(parameter) or bool(parameter.choices)


def _calls_with(bench: Bench, parameter: Parameter, tied: bool) -> Iterator[Call]:
    """The other options have their defaults, then one after the other doesn't: some do something beside another only. One that is tied
    to sizes has values of its own too, beside which others fit the same sizes: a stride of 3 and of 4, but none beside 1."""
    defaults: list[dict[str, Any]] = [{}] * _CALLS
    own = [{parameter.name: value} for value in _but_default(parameter)] * _CALLS if tied else []
    for numbers in defaults + _numbers_beside(bench, parameter) + own:
        for profile in ("small", "odd"):
            wish = Wish(f"with {parameter.name}", profile=profile, given={parameter.name: True}, scalars=numbers)
            call = bench.accepted(wish)
            if call is not None:
                yield call


def _numbers_beside(bench: Bench, parameter: Parameter) -> list[dict[str, Any]]:
    """Two values of each other number that aren't its default."""
    assert bench.op.contract is not None
    numbers = [each for each in bench.op.contract.parameters if _is_number(each)]
    others = [each for each in numbers if each is not parameter and not _is_the_authors(bench, each)]
    return [{each.name: value} for each in others for value in _but_default(each)[:2]]


def _but_default(parameter: Parameter) -> list[Any]:
    return [value for value in values.scalars(parameter) if value != parameter.default]


def _is_the_authors(bench: Bench, parameter: Parameter) -> bool:
    """A generator in the author's inputs makes it."""
    return bench.inputs.argument(bench.op.name, parameter.name) is not None


def _is_number(parameter: Parameter) -> bool:
    """Or a string, with a default."""
    return parameter.has_default and parameter.kind in ("int", "float", "bool", "str")


def _others(parameter: Parameter, call: Call) -> list[Any]:
    given = call.values[parameter.name]
    if isinstance(given, np.ndarray):
        return [None, _different(given)]
    near = [given - 1, given + 1] if parameter.kind == "int" and given is not None else []
    others = [value for value in dict.fromkeys([*values.scalars(parameter), *near]) if value != given]
    return others + ([None] if parameter.optional else [])


def _different(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind == "b":
        return ~array
    if compare.is_inexact(array.dtype):
        return (array.astype(np.complex128 if array.dtype.kind == "c" else np.float64) * 2 + 1).astype(array.dtype)
    return array[::-1].copy() if array.ndim else array
