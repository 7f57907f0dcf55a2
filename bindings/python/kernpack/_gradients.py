"""What KP_GRAD says, made ready for any framework: where each backward op finds its arguments, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


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
    """The backward ops of the forward op `name`; `typed` gives each function's signature. The loader has seen that they fit."""
    return tuple(_backward(typed[name], backward, typed[backward]) for f, backward in gradients if f == name)


def _backward(forward: Mapping[str, Any], backward: str, signature: Mapping[str, Any]) -> Backward:
    params = {p["name"]: i for i, p in enumerate(forward["params"])}
    results = {r["name"]: i for i, r in enumerate(forward["results"])}
    sources: list[tuple[str, int]] = []
    optional: set[int] = set()
    for parameter in signature["params"]:
        own = parameter["name"]
        if own in params:
            sources.append(("param", params[own]))
        elif own in results:
            sources.append(("result", results[own]))
        elif own.startswith("d_") and own.removeprefix("d_") in results:
            index = results[own.removeprefix("d_")]
            sources.append(("cotangent", index))
            if parameter["optional"]:
                optional.add(index)
        else:
            sources.append(("default", 0))
    targets = tuple(params[result["name"].removeprefix("d_")] for result in signature["results"])
    return Backward(backward, tuple(sources), frozenset(optional), targets)
