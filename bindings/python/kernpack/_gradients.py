"""What KP_GRAD says, made ready for any framework: where each backward op finds its arguments, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_DIFFERENTIABLE = ("f", "bf", "c")  # how names of dtypes that can have a gradient begin


@dataclass(frozen=True)
class Backward:
    """One backward op of a forward op.

    sources: for each parameter of the backward op ("param", i): the forward's parameter i; ("result", i): its result i;
        ("cotangent", i): the gradient that arrives for result i; ("default", 0): left to its default.
    optional_cotangents: the results whose unused gradient is given as None, not as zeros.
    targets: for each result of the backward op the forward's parameter whose gradient it is.
    """

    name: str
    sources: tuple[tuple[str, int], ...]
    optional_cotangents: frozenset[int]
    targets: tuple[int, ...]


def plan(
    name: str, gradients: Sequence[tuple[str, str]], typed: Mapping[str, Mapping[str, Any]]
) -> tuple[Backward, ...]:
    """The backward ops of the forward op `name`; `typed` gives each function's signature. ValueError where they do not fit."""
    forward = typed[name]
    found = tuple(_backward(name, forward, backward, typed[backward]) for f, backward in gradients if f == name)
    if not found:
        return ()
    given: dict[int, str] = {}
    for backward in found:
        for target in backward.targets:
            if target in given:
                parameter = forward["params"][target]["name"]
                raise ValueError(
                    f"KP_GRAD: {name}: {given[target]} and {backward.name} both give d_{parameter}; expected one of them"
                )
            given[target] = backward.name
    for index, parameter in enumerate(forward["params"]):
        if (
            index in given
            or parameter["name"] in forward["props"]["nondiff"]
            or not may_have_gradient(forward, parameter)
        ):
            continue
        raise ValueError(
            f"KP_GRAD: {name}: no backward op gives d_{parameter['name']}; add it to one, or write "
            f"`with nondiff({parameter['name']})` in the signature if it has no gradient on purpose"
        )
    return found


def may_have_gradient(function: Mapping[str, Any], parameter: Mapping[str, Any]) -> bool:
    """Whether the parameter is a tensor of a dtype that can be differentiated, and not written in place."""
    if parameter["kind"] != "tensor" or parameter["mutated"]:
        return False
    ((form, value),) = parameter["dtype"].items()
    names = [value] if form == "fixed" else function["dtype_vars"][value]
    return names == "any" or any(dtype.startswith(_DIFFERENTIABLE) for dtype in names)


def _backward(name: str, forward: Mapping[str, Any], backward: str, signature: Mapping[str, Any]) -> Backward:
    params = {p["name"]: i for i, p in enumerate(forward["params"])}
    results = {r["name"]: i for i, r in enumerate(forward["results"])}
    sources: list[tuple[str, int]] = []
    optional: set[int] = set()
    for parameter in signature["params"]:
        own = parameter["name"]
        if own in params:
            if forward["params"][params[own]]["mutated"]:
                raise ValueError(
                    f"KP_GRAD: {backward}: {own}: {name} writes to it, so that it cannot be saved for {backward}"
                )
            sources.append(("param", params[own]))
        elif own in results:
            sources.append(("result", results[own]))
        elif own.removeprefix("d_") in results and own.startswith("d_"):
            index = results[own.removeprefix("d_")]
            sources.append(("cotangent", index))
            if parameter["optional"]:
                optional.add(index)
        elif parameter["has_default"]:
            sources.append(("default", 0))
        else:
            cotangents = ", ".join(f"d_{result}" for result in results)
            raise ValueError(
                f"KP_GRAD: {backward}: {own}: expected the name of a parameter or result of {name} "
                f"({', '.join([*params, *results])}) or of a gradient ({cotangents})"
            )
    return Backward(backward, tuple(sources), frozenset(optional), tuple(_targets(name, params, backward, signature)))


def _targets(name: str, params: Mapping[str, int], backward: str, signature: Mapping[str, Any]) -> list[int]:
    targets = []
    for result in signature["results"]:
        target = result["name"].removeprefix("d_")
        if target not in params or not result["name"].startswith("d_"):
            expected = ", ".join(f"d_{parameter}" for parameter in params)
            raise ValueError(
                f"KP_GRAD: {backward}: result {result['name']}: expected the gradient of a parameter of {name} ({expected})"
            )
        targets.append(params[target])
    return targets
