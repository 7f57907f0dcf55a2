"""Reverse mode from KP_GRAD: a custom_vjp around a call, whose backward functions meet its arguments by name.

Which arguments need a gradient is known while tracing: a backward function runs only if one of its results is wanted, and only
what those read is kept. JAX takes what is kept for the backward to have one tree whatever the answer is, so the answer is told
by the sizes of its leaves.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from . import _statics, _varying
from ._arguments import Config
from ._function import Function, Parameter
from ._primitive import bind

_PREFIX = "d_"


Shardings = tuple[Any, ...]  # of each operand, where its type says so; else None


def call(config: Config, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The call, differentiable where its gradients are declared: new values, then all results."""
    if not config.function.backwards or not config.outputs:
        return _plain(config, *arrays)
    return _differentiable(config, tuple(_explicit_sharding(array) for array in arrays))(*arrays)


@functools.lru_cache(maxsize=4096)
def _differentiable(config: Config, shardings: Shardings) -> Callable[..., tuple[Any, ...]]:
    found = jax.custom_vjp(functools.partial(_plain, config))
    backward = functools.partial(_backward, config, shardings)
    found.defvjp(functools.partial(_forward, config), backward, symbolic_zeros=True)
    return found


def _explicit_sharding(array: Any) -> Any:
    sharding = getattr(jax.typeof(array), "sharding", None)
    return sharding if sharding is not None and any(sharding.spec) else None


def _plain(config: Config, *arrays: Any) -> tuple[Any, ...]:
    return tuple(bind(config, arrays))


@dataclass(frozen=True)
class _Saved:
    """What a backward pass needs. The lists have one item an operand."""

    read: dict[str, list[Any]]  # by the name of a parameter or result; no elements where nobody reads it
    markers: list[Any]  # one element where a gradient is wanted, else none; dtype and varying axes are the operand's


jax.tree_util.register_dataclass(_Saved, data_fields=["read", "markers"], meta_fields=[])


def _forward(config: Config, *primals: Any) -> tuple[tuple[Any, ...], _Saved]:
    arrays = [primal.value for primal in primals]
    function = config.function
    markers = []
    names = set()
    for parameter, primal in zip(config.operands, primals, strict=True):
        inexact = jnp.issubdtype(primal.value.dtype, jnp.inexact)
        wanted = primal.perturbed and inexact and parameter.name not in function.nondiff
        if wanted:
            _check_has_gradient(config, parameter)
            names.add(parameter.name)
        markers.append(_varying.like(jnp.zeros(int(wanted), primal.value.dtype if inexact else bool), primal.value))
    outputs = call(config, arrays)  # itself differentiable: second order goes through here
    known: dict[str, list[Any]] = {}
    for parameter, array in zip(config.operands, arrays, strict=True):
        known.setdefault(parameter.name, []).append(array)
    for result, output in zip(function.results, outputs[len(config.mutated) :], strict=True):
        known[result.name] = [output]
    readable = {p.name for backward in function.backwards for p in backward.parameters}
    read = {p.name for backward in _needed(function, names) for p in backward.parameters}
    nothing = jnp.zeros(0, bool)
    saved = {name: v if name in read else [nothing] * len(v) for name, v in known.items() if name in readable}
    return outputs, _Saved(saved, markers)


def _check_has_gradient(config: Config, parameter: Parameter) -> None:
    function = config.function
    where = f"{function.name}: {parameter.name}: cannot be differentiated"
    if config.mutated:
        written = config.operands[config.mutated[0]].name
        raise TypeError(f"{where}: {written} is written in place; use jax.lax.stop_gradient on the arguments")
    if parameter.is_list:
        raise TypeError(f"{where}: lists have no gradient; use jax.lax.stop_gradient on its items")
    if not any(_PREFIX + parameter.name == result.name for b in function.backwards for result in b.results):
        names = " and ".join(backward.name for backward in function.backwards)
        raise TypeError(f"{where}: {names} gives no result {_PREFIX}{parameter.name}; add one, or list it as nondiff")


def _needed(function: Function, wanted: set[str]) -> list[Function]:
    return [b for b in function.backwards if any(result.name.removeprefix(_PREFIX) in wanted for result in b.results)]


def _backward(config: Config, shardings: Shardings, saved: _Saved, cotangents: Sequence[Any]) -> tuple[Any, ...]:
    function = config.function
    wanted = [index for index, marker in enumerate(saved.markers) if marker.shape[0]]
    names = {config.operands[index].name: index for index in wanted}
    given = {r.name: c for r, c in zip(function.results, cotangents[len(config.mutated) :], strict=True)}
    _check_all_are_taken(function, given)
    gradients: list[Any] = [None] * len(config.operands)
    for backward in _needed(function, set(names)):
        slots, arrays = _arguments(config, backward, saved.read, given)
        results = call(Config(backward, slots), arrays)
        for result, value in zip(backward.results, results[len(results) - backward.num_results :], strict=True):
            index = names.get(result.name.removeprefix(_PREFIX))
            if index is not None:
                gradients[index] = _as_gradient(value, saved.markers[index], shardings[index])
    return tuple(gradients)


def _check_all_are_taken(function: Function, given: dict[str, Any]) -> None:
    taken = {parameter.name for backward in function.backwards for parameter in backward.parameters}
    for name, cotangent in given.items():
        if _PREFIX + name in taken or isinstance(cotangent, SymbolicZero) or cotangent.dtype == jax.dtypes.float0:
            continue
        backwards = " and ".join(backward.name for backward in function.backwards)
        raise TypeError(
            f"{function.name}: {name}: cannot be differentiated: {backwards} takes no parameter {_PREFIX}{name}; add one "
            "(for a result marked aux it is needed from the second order on), or use jax.lax.stop_gradient on the result"
        )


def _arguments(
    config: Config, backward: Function, read: dict[str, Any], given: dict[str, Any]
) -> tuple[tuple[_statics.Key, ...], list[Any]]:
    slots: list[_statics.Key] = []
    arrays: list[Any] = []
    for parameter in backward.parameters:
        cotangent = given.get(parameter.name.removeprefix(_PREFIX)) if parameter.name.startswith(_PREFIX) else None
        if cotangent is not None:
            if isinstance(cotangent, SymbolicZero) and parameter.optional:
                slots.append(_statics.NONE)
                continue
            slots.append(("tensor", 1))
            arrays.append(_conjugate(_instantiated(cotangent)))
        elif parameter.name in read:
            values = read[parameter.name]
            slots.append(("tensors", len(values)) if parameter.is_list else ("tensor", 1))
            arrays += values
        else:
            slots.append(_static(config, backward, parameter))
    return tuple(slots), arrays


def _static(config: Config, backward: Function, parameter: Parameter) -> _statics.Key:
    slot = config.slot(parameter.name)
    if slot is not None:
        return slot
    if parameter.has_default:
        return _statics.NONE if parameter.default is None else _statics.key(backward, parameter, parameter.default)
    raise TypeError(
        f"{backward.name}: {parameter.name}: is neither a parameter nor a result of {config.function.name}, nor the gradient "
        "of a result"
    )


def _instantiated(cotangent: Any) -> Any:
    return jnp.zeros(cotangent.shape, cotangent.dtype) if isinstance(cotangent, SymbolicZero) else cotangent


def _conjugate(value: Any) -> Any:
    """Kernels follow torch's convention for complex gradients, JAX has the conjugate."""
    return jnp.conj(value) if jnp.issubdtype(value.dtype, jnp.complexfloating) else value


def _as_gradient(value: Any, marker: Any, sharding: Any) -> Any:
    gradient = _varying.sum_like(_conjugate(value).astype(marker.dtype), marker)
    return gradient if sharding is None else jax.sharding.reshard(gradient, sharding)
