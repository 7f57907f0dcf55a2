"""Calls of backward and tangent ops that take positions: made of a call of their forward op, as a framework makes them.

Such an op trusts that an index, or the number of a list's item, is one that its forward op took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from kernpack import _contract, _gradients

from kernpack_sdk.testing import compare, values
from kernpack_sdk.testing.case import Call, Op
from kernpack_sdk.testing.frameworks import Framework
from kernpack_sdk.testing.generate import Generator, Unsolved, Wish
from kernpack_sdk.testing.inputs import Inputs

Sources = tuple[tuple[str, int], ...]


def find_forward(op: Op) -> tuple[str, Sources] | None:
    """The forward op, and where each argument comes from; None: the op isn't derived, or takes no positions."""
    contract = op.contract
    if contract is None or not any(each.kind == "int" or _is_integer(op, each) for each in contract.parameters):
        return None
    pairs = [*op.module._gradients, *op.module._jvps]
    forward = next((forward for forward, derived in pairs if derived == op.name and forward != op.name), None)
    if forward is None:
        return None
    contracts = {name: found for name in (forward, op.name) if (found := _contract.of(op.module.functions[name]))}
    if len(contracts) < 2:
        return None
    if (forward, op.name) in op.module._gradients:
        plan = next(each for each in _gradients.plan(forward, [(forward, op.name)], contracts))
        return forward, plan.sources
    tangent = _gradients.tangent_plan(forward, [(forward, op.name)], contracts)
    return None if tangent is None else (forward, tangent.sources)


def _is_integer(op: Op, parameter: Any) -> bool:
    if parameter.tensor is None or op.contract is None:
        return False
    form, name = parameter.tensor.dtype
    names = (op.contract.dtype_vars.get(name) or ()) if form == "var" else (name,)
    return any(each[0] in "iu" for each in names)


def arguments(
    op: Op,
    sources: Sources,
    parameters: list[Any],
    results: dict[int, Any],
    item: int,
    derivative: Callable[[str, int, bool], Any],
) -> dict[str, Any]:
    """Those of a call of a backward or tangent op. parameters, results: of the forward op's call; item: of the list whose gradient
    is asked for; derivative: what arrives for a result or parameter ("cotangent" or "tangent", its number, may it be None)."""
    assert op.contract is not None
    filled = {}
    for parameter, (source, i) in zip(op.contract.parameters, sources, strict=True):
        if source == "result" and i not in results:
            raise _aux(parameter.name)
        if source == "default" and parameter.is_list:
            filled[parameter.name] = parameter.default
        elif source == "default":
            filled[parameter.name] = values.scalars(parameter)[0] if parameter.tensor is None else None
        elif source == "param":
            filled[parameter.name] = parameters[i]
        elif source == "shape":
            filled[parameter.name] = list(parameters[i].shape)
        elif source in ("item", "index"):
            filled[parameter.name] = parameters[i][item] if source == "item" else item
        elif source == "result":
            filled[parameter.name] = results[i]
        else:
            filled[parameter.name] = derivative(source, i, parameter.optional)
    return filled


def _aux(name: str) -> Unsolved:
    return Unsolved(f"{name} is an aux result, which callers don't see")


class DerivedGenerator(Generator):
    """Of a backward or tangent op, by calls of its forward op, which are made at `place`."""

    def __init__(
        self, op: Op, forward: str, sources: Sources, seed: int, inputs: Inputs, largest: int, place: Framework
    ) -> None:
        super().__init__(op, seed, inputs, largest)
        self._place = place
        self._forward = Generator(Op.of(op.module, forward), seed, inputs, largest)
        self._sources = sources
        self._rng = np.random.default_rng((seed, 1))

    def wishes(self, odd: int) -> Iterator[Wish]:
        yield from self._forward.wishes(odd)

    def learn(self) -> None:
        self._forward.learn()

    def call(self, wish: Wish) -> Call:
        forward = self._forward.call(wish)
        outcome = self._place.call(forward)
        if outcome.error is not None:
            raise Unsolved(f"{forward.op.name} refused its call: {outcome.refusal}")
        self._forward.learn()
        contract = forward.op.contract
        assert contract is not None
        parameters = [forward.values[each.name] for each in contract.parameters]
        results = dict(zip(contract.returned, outcome.arrays, strict=False))

        def random(source: str, i: int, optional: bool) -> Any:
            if source == "cotangent" and i not in results:
                raise _aux(f"d_{contract.results[i].name}")
            absent = optional and self._rng.random() < 0.2
            return None if absent else self._random(results[i] if source == "cotangent" else parameters[i])

        item = self._item(parameters)
        filled = arguments(self.op, self._sources, parameters, results, item, random)
        return Call(self.op, filled, wish.about, forward.dims, forward.batch)

    def _item(self, parameters: list[Any]) -> int:
        lists = [parameters[i] for source, i in self._sources if source in ("item", "index")]
        return int(self._rng.integers(len(lists[0]))) if lists and lists[0] else 0

    def _random(self, like: Any) -> Any:
        if isinstance(like, list):
            return [self._random(each) for each in like]
        if not isinstance(like, np.ndarray) or not compare.is_inexact(like.dtype):
            return like
        return np.asarray(self._rng.standard_normal(like.shape)).astype(like.dtype)
