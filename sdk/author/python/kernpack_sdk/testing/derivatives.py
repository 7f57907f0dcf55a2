"""Declared derivatives without a framework: backward and tangent ops called as a framework calls them, on a device too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from kernpack import _contract, _gradients
from kernpack._domain import Tensor
from kernpack._solve import Solution

from kernpack_sdk.testing import compare, values
from kernpack_sdk.testing.case import Call, Op, Skipped, dtype_text
from kernpack_sdk.testing.derived import arguments
from kernpack_sdk.testing.frameworks import Framework, Outcome


class Refused(Exception):
    """An op raised an error."""

    def __init__(self, call: Call, outcome: Outcome) -> None:
        super().__init__(f"{call.text()} raised {outcome.refusal}")
        assert outcome.error is not None
        self.error = outcome.error


def backwards(op: Op) -> tuple[_gradients.Backward, ...]:
    """The backward ops that KP_GRAD names for the op."""
    return _gradients.plan(op.name, op.module._gradients, _contracts(op))


def tangent(op: Op) -> _gradients.Tangent | None:
    """The tangent op that KP_JVP names for the op."""
    return _gradients.tangent_plan(op.name, op.module._jvps, _contracts(op))


def derived_ops(op: Op) -> list[Op]:
    """The backward and tangent ops of the op."""
    pairs = [*op.module._gradients, *op.module._jvps]
    return [Op.of(op.module, name) for forward, name in pairs if forward == op.name]


def _contracts(op: Op) -> dict[str, _contract.Contract]:
    return {each.name: each.contract for each in (op, *derived_ops(op)) if each.contract is not None}


def gradients(call: Call, arriving: list[np.ndarray], place: Framework) -> dict[str, np.ndarray]:
    """By argument ("x", "xs[1]"). arriving: the gradient of each array that the call gives."""
    contract = call.op.contract
    assert contract is not None
    plans = backwards(call.op)
    results = _results(call, place, {i for plan in plans for source, i in plan.sources if source == "result"})
    cotangents = {i: np.asarray(d) for i, d in zip(contract.returned, arriving, strict=False)}
    solution = _solution(call)
    found: dict[str, np.ndarray] = {}

    def arrives(_: str, i: int, optional: bool) -> Any:
        shape, dtype = solution.result(i)
        if i in cotangents:
            return cotangents[i].astype(values.numpy_dtype(dtype))
        return None if optional else np.zeros(shape, values.numpy_dtype(dtype))

    for plan in plans:
        op = Op.of(call.op.module, plan.name)
        for item, targets in _runs(call, plan):
            made = Call(op, arguments(op, plan.sources, _arguments(call), results, item, arrives))
            outcome = _called(made, place)
            assert op.contract is not None
            given = dict(zip(op.contract.returned, outcome.arrays, strict=False))
            found |= {name: given[i] for i, name in targets.items() if i in given}
    return found


def _runs(call: Call, plan: _gradients.Backward) -> Iterator[tuple[int, dict[int, str]]]:
    """The calls of a backward op: the item of a list that it is for, and the argument whose gradient each result is."""
    parameters = _parameters(call)
    if plan.per_item:
        name = parameters[plan.targets[0]]
        yield from ((item, {0: f"{name}[{item}]"}) for item in range(len(call.values[name])))
        return
    targets = {i: parameters[target] for i, target in enumerate(plan.targets)}
    given = {i: name for i, name in targets.items() if call.values[name] is not None}
    if given:
        yield 0, given


def tangents(call: Call, directions: dict[str, np.ndarray], place: Framework) -> dict[int, np.ndarray]:
    """By the result's position. directions: by argument."""
    contract, plan = call.op.contract, tangent(call.op)
    assert contract is not None
    assert plan is not None
    results = _results(call, place, {i for source, i in plan.sources if source == "result"})
    parameters = _parameters(call)

    def arrives(_: str, i: int, optional: bool) -> Any:
        name = parameters[i]
        value = call.values[name]
        if isinstance(value, list):
            return [directions.get(f"{name}[{k}]", np.zeros_like(each)) for k, each in enumerate(value)]
        if name in directions:
            return directions[name]
        return None if optional or value is None else np.zeros_like(value)

    op = Op.of(call.op.module, plan.name)
    made = Call(op, arguments(op, plan.sources, _arguments(call), results, 0, arrives))
    outcome = _called(made, place)
    by_result = dict(zip(plan.targets, outcome.arrays, strict=True))
    seen = enumerate(contract.returned)
    return {at: by_result[i] for at, i in seen if i in by_result and compare.is_inexact(by_result[i].dtype)}


def _parameters(call: Call) -> list[str]:
    assert call.op.contract is not None
    return [each.name for each in call.op.contract.parameters]


def _arguments(call: Call) -> list[Any]:
    return [call.values[name] for name in _parameters(call)]


def _results(call: Call, place: Framework, needed: set[int]) -> dict[int, np.ndarray]:
    """The call's results by their positions, those marked `aux` too where they are needed."""
    contract = call.op.contract
    assert contract is not None
    hidden = needed.difference(contract.returned)
    if not hidden:
        return dict(zip(contract.returned, _called(call, place).arrays, strict=False))
    if not contract.takes_destinations:
        raise Skipped("a parameter of the function is called out, so its aux results can't be asked for")
    solution = _solution(call)
    into = []
    for i in range(len(contract.results)):
        shape, dtype = solution.result(i)
        into.append(place.make(np.zeros(shape, values.numpy_dtype(dtype))))
    _called(call, place, out=tuple(into) if len(into) > 1 else into[0])
    return {i: place.read(tensor) for i, tensor in enumerate(into)}


def _called(call: Call, place: Framework, **keywords: Any) -> Outcome:
    outcome = place.call(call, **keywords)
    if outcome.error is not None:
        raise Refused(call, outcome)
    return outcome


def _solution(call: Call) -> Solution:
    def seen(value: Any) -> Any:
        if isinstance(value, list):
            return [seen(item) for item in value]
        return Tensor(value.shape, dtype_text(value.dtype)) if isinstance(value, np.ndarray) else value

    assert call.op.contract is not None
    return Solution(call.op.contract, [seen(value) for value in _arguments(call)], traced=True)
