"""Plans for gradients (KP_GRAD) and tangents (KP_JVP), for any framework: the arguments and the results of each derived op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernpack._contract import Contract, Parameter, Result


@dataclass(frozen=True)
class Backward:
    """One backward op of a forward op.

    sources: for each parameter of the backward op ("param", i): the forward's parameter i; ("result", i): its result i;
        ("cotangent", i): the gradient that arrives for result i; ("default", 0): left to its default; ("item", i) and
        ("index", i): the item of the forward's list i whose gradient is asked for, and its number; ("shape", i): the shape of the
        forward's tensor i, of which nothing else is kept.
    optional_cotangents: the results whose unused gradient is given as None, not as zeros.
    targets: for each result of the backward op the forward's parameter whose gradient it is.
    per_item: that parameter is a list, and the op runs once for each item that needs a gradient.
    """

    name: str
    sources: tuple[tuple[str, int], ...]
    optional_cotangents: frozenset[int]
    targets: tuple[int, ...]
    per_item: bool


def plan(name: str, gradients: Sequence[tuple[str, str]], contracts: Mapping[str, Contract]) -> tuple[Backward, ...]:
    """The backward ops of the forward op `name`; `contracts` are by name. The loader has seen that they fit."""
    return tuple(_backward(contracts[name], backward, contracts[backward]) for f, backward in gradients if f == name)


def _backward(forward: Contract, backward: str, contract: Contract) -> Backward:
    params, results = _positions("param", forward.parameters), _positions("result", forward.results)
    targets = tuple(_target(params, result.name) for result in contract.results)
    per_item = any(forward.parameters[target].is_list for target in targets)
    shapes = {f"{name}_shape": ("shape", i) for name, (_, i) in params.items() if forward.parameters[i].is_tensor}
    known = shapes | _positions("cotangent", forward.results, "d_")
    if per_item:
        list_name = forward.parameters[targets[0]].name
        known |= {f"{list_name}_item": ("item", targets[0]), f"{list_name}_index": ("index", targets[0])}
    sources, optional = _sources(contract, known | results | params, "cotangent")
    return Backward(backward, sources, optional, targets, per_item)


def _positions(kind: str, declared: Sequence[Parameter | Result], prefix: str = "") -> dict[str, tuple[str, int]]:
    return {prefix + each.name: (kind, i) for i, each in enumerate(declared)}


def _sources(
    contract: Contract, known: Mapping[str, tuple[str, int]], derivative: str
) -> tuple[tuple[tuple[str, int], ...], frozenset[int]]:
    """Where each parameter's value is, by its name; and the numbers of the derivatives that may be None."""
    sources = tuple(known.get(parameter.name, ("default", 0)) for parameter in contract.parameters)
    optional = frozenset(
        index
        for parameter, (kind, index) in zip(contract.parameters, sources, strict=True)
        if kind == derivative and parameter.optional
    )
    return sources, optional


def _target(params: Mapping[str, tuple[str, int]], result: str) -> int:
    """The parameter whose gradient d_<parameter> is, or d_<parameter>_ where d_<parameter> is taken."""
    name = result.removeprefix("d_")
    return params[name if name in params else name.removesuffix("_")][1]


@dataclass(frozen=True)
class Tangent:
    """The op that computes a forward op's tangents.

    sources: for each of its parameters ("param", i): the forward's parameter i; ("result", i): its result i; ("tangent", i): the
        tangent of the forward's parameter i, of each of its items where it is a list; ("default", 0): left to its default.
    optional_tangents: the parameters whose zero tangent is given as None, not as zeros.
    targets: for each result of the tangent op the forward's result whose tangent it is.
    """

    name: str
    sources: tuple[tuple[str, int], ...]
    optional_tangents: frozenset[int]
    targets: tuple[int, ...]


def tangent_plan(name: str, jvps: Sequence[tuple[str, str]], contracts: Mapping[str, Contract]) -> Tangent | None:
    """The tangent op of the forward op `name`, or None; as `plan`."""
    return next((_tangent(contracts[name], tangent, contracts[tangent]) for f, tangent in jvps if f == name), None)


def _tangent(forward: Contract, tangent: str, contract: Contract) -> Tangent:
    params, results = _positions("param", forward.parameters), _positions("result", forward.results)
    known = _positions("tangent", forward.parameters, "t_") | results | params
    sources, optional = _sources(contract, known, "tangent")
    targets = tuple(results[result.name.removeprefix("t_")][1] for result in contract.results)
    return Tangent(tangent, sources, optional, targets)
