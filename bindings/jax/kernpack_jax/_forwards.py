"""Forward mode from KP_JVP: the tangent function of a call, whose arguments meet its own by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
from kernpack._contract import Parameter

from . import _derived, _primitive, _statics, _typed
from ._arguments import Config
from ._function import Function
from ._step import Source, Step


def gives(function: Function, result: int) -> bool:
    """True if the tangent function computes the tangent of this result."""
    return function.tangent is not None and result in function.tangent[1].targets


def reads(function: Function) -> list[Source]:
    """The arguments of the tangent function, except tangents."""
    return [] if function.tangent is None else [s for s in function.tangent[1].sources if s[0] in ("param", "result")]


def run(step: Step, saved: Mapping[Source, Sequence[Any]], tangents: Mapping[int, Any]) -> list[Any]:
    """The tangents of the step's results. `tangents`: those of the operands that move."""
    function = step.config.function
    if function.tangent is None:
        raise TypeError(
            f"{function.name}: cannot be differentiated in forward mode (jax.jvp, jax.jacfwd, jax.hessian): its module declares "
            f"no KP_JVP({function.name}, <its tangent function>); declare one, or use reverse mode (jax.grad, jax.jacrev)"
        )
    derived, plan = function.tangent
    for result in step.results:
        if result not in plan.targets:
            _refuse(function, derived, result)
    slots: list[_statics.Key] = []
    arrays: list[Any] = []
    for parameter, source in zip(derived.parameters, plan.sources, strict=True):
        if source[0] == "tangent":
            slot, given = _tangents(step, parameter, source[1], tangents)
        else:
            slot, given = _derived.argument(step.config, derived, parameter, source, saved)
        slots.append(slot)
        arrays += given
    found = dict(zip(plan.targets, _primitive.bind(Config(derived, tuple(slots)), arrays), strict=True))
    return [_typed.as_type(found[result], step.types[result]) for result in step.results]


def _refuse(function: Function, derived: Function, result: int) -> None:
    name = function.results[result].name
    raise TypeError(
        f"{function.name}: {name}: cannot be differentiated in forward mode: {derived.name} gives no t_{name}; add it (for a "
        "result marked aux it is needed from the second order on)"
    )


def _tangents(
    step: Step, parameter: Parameter, owner: int, tangents: Mapping[int, Any]
) -> tuple[_statics.Key, list[Any]]:
    slot = step.config.slots[owner]
    operands = [index for index, own in enumerate(step.config.owners) if own == owner]
    if slot == _statics.NONE or (parameter.optional and tangents.keys().isdisjoint(operands)):
        return _statics.NONE, []
    return slot, [tangents[index] if index in tangents else _zeros(step.operands[index]) for index in operands]


def _zeros(kind: Any) -> Any:
    return _typed.as_type(jnp.zeros(kind.shape, kind.dtype), kind)
