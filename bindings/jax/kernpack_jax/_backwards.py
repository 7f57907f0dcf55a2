"""Reverse mode from KP_GRAD: the backward functions of a call, whose arguments meet its own by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
from jax.interpreters import ad
from kernpack._gradients import Backward

from . import _derived, _primitive, _statics, _typed
from ._arguments import Config
from ._function import Function
from ._step import Source, Step


def reads(config: Config, moved: Sequence[int]) -> list[Source]:
    """The arguments of the backward functions that compute a gradient of one of these operands."""
    wanted = {config.owners[operand] for operand in moved}
    sources = [source for _, plan in _needed(config.function, wanted) for source in plan.sources]
    return list(dict.fromkeys(("param" if kind == "item" else kind, index) for kind, index in sources))


def _needed(function: Function, wanted: set[int]) -> list[tuple[Function, Backward]]:
    return [(backward, plan) for backward, plan in function.backwards if wanted.intersection(plan.targets)]


def run(
    step: Step, saved: Mapping[Source, Sequence[Any]], asked: Sequence[int], cotangents: Sequence[Any]
) -> dict[int, Any]:
    """The gradients of the operands that are asked for, from the cotangent of each result; one that is missing is zero."""
    config = step.config
    if all(isinstance(cotangent, ad.Zero) for cotangent in cotangents):
        return {}
    _check_declared(config.function)
    _check_all_are_taken(config.function, cotangents)
    wanted: dict[int, list[int]] = {}
    for operand in asked:
        wanted.setdefault(config.owners[operand], []).append(operand)
    gradients: dict[int, Any] = {}
    for backward, plan in _needed(config.function, set(wanted)):
        first = config.owners.index(plan.targets[0]) if plan.per_item else 0
        for operand in wanted[plan.targets[0]] if plan.per_item else (first,):
            slots, arrays = _arguments(step, backward, plan, saved, cotangents, operand - first)
            results = _primitive.bind(Config(backward, slots), arrays)
            for target, value in zip(plan.targets, results[len(results) - backward.num_results :], strict=True):
                for own in [operand] if plan.per_item else wanted.get(target, []):
                    gradients[own] = _typed.as_type(_conjugate(value), step.operands[own])
    return gradients


def _check_declared(function: Function) -> None:
    if not function.backwards:
        raise TypeError(
            f"{function.name}: cannot be differentiated in reverse mode (jax.grad, jax.vjp, jax.jacrev): its module declares no "
            f"KP_GRAD({function.name}, <its backward function>); declare one, or use forward mode (jax.jvp, jax.jacfwd)"
        )


def _check_all_are_taken(function: Function, cotangents: Sequence[Any]) -> None:
    taken = {index for _, plan in function.backwards for kind, index in plan.sources if kind == "cotangent"}
    for index, cotangent in enumerate(cotangents):
        if index in taken or isinstance(cotangent, ad.Zero):
            continue
        name = function.results[index].name
        backwards = " and ".join(backward.name for backward, _ in function.backwards)
        raise TypeError(
            f"{function.name}: {name}: cannot be differentiated: {backwards} takes no parameter d_{name}; add one (for a "
            "result marked aux it is needed from the second order on), or use jax.lax.stop_gradient on the result"
        )


def _arguments(
    step: Step,
    backward: Function,
    plan: Backward,
    saved: Mapping[Source, Sequence[Any]],
    cotangents: Sequence[Any],
    item: int,
) -> tuple[tuple[_statics.Key, ...], list[Any]]:
    slots: list[_statics.Key] = []
    arrays: list[Any] = []
    slot: _statics.Key
    for parameter, (kind, index) in zip(backward.parameters, plan.sources, strict=True):
        if kind == "cotangent" and parameter.optional and isinstance(cotangents[index], ad.Zero):
            slot, given = _statics.NONE, []
        elif kind == "cotangent":
            slot, given = ("tensor", 1), [_conjugate(ad.instantiate_zeros(cotangents[index]))]
        elif kind == "item":
            slot, given = ("tensor", 1), [saved["param", index][item]]
        elif kind == "shape":
            slot, given = _statics.key(backward, parameter, step.operands[step.config.owners.index(index)].shape), []
        elif kind == "index":
            slot, given = _statics.key(backward, parameter, item), []
        else:
            slot, given = _derived.argument(step.config, backward, parameter, (kind, index), saved)
        slots.append(slot)
        arrays += given
    return tuple(slots), arrays


def _conjugate(value: Any) -> Any:
    """Kernels follow torch's convention for complex gradients, JAX has the conjugate."""
    return jnp.conj(value) if jnp.issubdtype(value.dtype, jnp.complexfloating) else value
