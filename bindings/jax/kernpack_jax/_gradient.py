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
from kernpack._gradients import Backward

from . import _sharding, _statics, _varying
from ._arguments import Config
from ._function import Function
from ._primitive import bind

Types = tuple[Any, ...]  # JAX's, of each operand


def call(config: Config, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The call, differentiable where its gradients are declared: new values, then all results."""
    if not config.function.backwards or not config.outputs:
        return _plain(config, *arrays)
    return _differentiable(config, tuple(jax.typeof(array) for array in arrays))(*arrays)


@functools.lru_cache(maxsize=4096)
def _differentiable(config: Config, types: Types) -> Callable[..., tuple[Any, ...]]:
    found = jax.custom_vjp(functools.partial(_plain, config))
    backward = functools.partial(_backward, config, types)
    found.defvjp(functools.partial(_forward, config), backward, symbolic_zeros=True)
    return found


def _plain(config: Config, *arrays: Any) -> tuple[Any, ...]:
    return tuple(bind(config, arrays))


@dataclass(frozen=True)
class _Saved:
    """What a backward pass needs."""

    read: dict[str, list[Any]]  # by _key; arrays without elements where nobody reads them
    markers: list[Any]  # one an operand, with an element where a gradient is wanted; dtype and varying axes are its own


jax.tree_util.register_dataclass(_Saved, data_fields=["read", "markers"], meta_fields=[])


def _key(source: tuple[str, int]) -> str:
    kind, index = source
    return f"{'param' if kind == 'item' else kind}{index}"


def _forward(config: Config, *primals: Any) -> tuple[tuple[Any, ...], _Saved]:
    function = config.function
    arrays = [primal.value for primal in primals]
    markers = []
    wanted = set()
    for owner, primal in zip(config.owners, primals, strict=True):
        inexact = jnp.issubdtype(primal.value.dtype, jnp.inexact)
        is_wanted = primal.perturbed and inexact and function.parameters[owner].name not in function.nondiff
        if is_wanted:
            _check_has_gradient(config, owner)
            wanted.add(owner)
        markers.append(_varying.like(jnp.zeros(int(is_wanted), primal.value.dtype if inexact else bool), primal.value))
    outputs = call(config, arrays)  # itself differentiable: second order goes through here
    known: dict[str, list[Any]] = {}
    for owner, array in zip(config.owners, arrays, strict=True):
        known.setdefault(_key(("param", owner)), []).append(array)
    for index, output in enumerate(outputs[len(config.mutated) :]):
        known[_key(("result", index))] = [output]
    readable = {_key(source) for _, step in function.backwards for source in step.sources}
    read = {_key(source) for _, step in _needed(function, wanted) for source in step.sources}
    nothing = jnp.zeros(0, bool)
    saved = {key: v if key in read else [nothing] * len(v) for key, v in known.items() if key in readable}
    return outputs, _Saved(saved, markers)


def _check_has_gradient(config: Config, owner: int) -> None:
    if config.mutated:
        function = config.function
        raise TypeError(
            f"{function.name}: {function.parameters[owner].name}: cannot be differentiated: "
            f"{config.operands[config.mutated[0]].name} is written in place; use jax.lax.stop_gradient on the arguments"
        )


def _needed(function: Function, wanted: set[int]) -> list[tuple[Function, Backward]]:
    return [(backward, step) for backward, step in function.backwards if wanted.intersection(step.targets)]


def _backward(config: Config, types: Types, saved: _Saved, cotangents: Sequence[Any]) -> tuple[Any, ...]:
    wanted: dict[int, list[int]] = {}
    for index, marker in enumerate(saved.markers):
        if marker.shape[0]:
            wanted.setdefault(config.owners[index], []).append(index)
    given = list(cotangents[len(config.mutated) :])
    _check_all_are_taken(config.function, given)
    gradients = [_zero(kind) for kind in types]
    for backward, step in _needed(config.function, set(wanted)):
        first = config.owners.index(step.targets[0]) if step.per_item else 0
        for operand in wanted[step.targets[0]] if step.per_item else (first,):
            slots, arrays = _arguments(config, backward, step, saved.read, given, operand - first)
            results = call(Config(backward, slots), arrays)
            for target, value in zip(step.targets, results[len(results) - backward.num_results :], strict=True):
                if target in wanted:
                    index = operand if step.per_item else wanted[target][0]
                    gradients[index] = _as_gradient(value, saved.markers[index], types[index])
    return tuple(gradients)


def _check_all_are_taken(function: Function, given: Sequence[Any]) -> None:
    taken = {index for _, step in function.backwards for kind, index in step.sources if kind == "cotangent"}
    for index, cotangent in enumerate(given):
        if index in taken or isinstance(cotangent, SymbolicZero) or cotangent.dtype == jax.dtypes.float0:
            continue
        name = function.results[index].name
        backwards = " and ".join(backward.name for backward, _ in function.backwards)
        raise TypeError(
            f"{function.name}: {name}: cannot be differentiated: {backwards} takes no parameter d_{name}; add one (for a "
            "result marked aux it is needed from the second order on), or use jax.lax.stop_gradient on the result"
        )


def _arguments(
    config: Config, backward: Function, step: Backward, read: dict[str, list[Any]], given: Sequence[Any], item: int
) -> tuple[tuple[_statics.Key, ...], list[Any]]:
    slots: list[_statics.Key] = []
    arrays: list[Any] = []
    for parameter, source in zip(backward.parameters, step.sources, strict=True):
        kind, index = source
        if kind == "cotangent":
            if isinstance(given[index], SymbolicZero) and parameter.optional:
                slots.append(_statics.NONE)
                continue
            slots.append(("tensor", 1))
            arrays.append(_conjugate(_instantiated(given[index])))
        elif kind == "index":
            slots.append(_statics.key(backward, parameter, item))
        elif _key(source) in read:
            values = [read[_key(source)][item]] if kind == "item" else read[_key(source)]
            slots.append(("tensors", len(values)) if parameter.is_list else ("tensor", 1))
            arrays += values
        elif kind == "param":  # static, None, or an empty list
            slots.append(config.slots[index])
        else:
            slots.append(_statics.key(backward, parameter, parameter.default))
    return tuple(slots), arrays


def _instantiated(cotangent: Any) -> Any:
    return jnp.zeros(cotangent.shape, cotangent.dtype) if isinstance(cotangent, SymbolicZero) else cotangent


def _conjugate(value: Any) -> Any:
    """Kernels follow torch's convention for complex gradients, JAX has the conjugate."""
    return jnp.conj(value) if jnp.issubdtype(value.dtype, jnp.complexfloating) else value


def _as_gradient(value: Any, marker: Any, kind: Any) -> Any:
    gradient = _varying.sum_like(_conjugate(value).astype(marker.dtype), marker)
    sharding = getattr(kind, "sharding", None)
    return gradient if sharding is None or not any(sharding.spec) else _sharding.reshard(gradient, sharding)


def _zero(kind: Any) -> Any:
    """No gradient. JAX 0.6 wants one tree of a backward whichever gradients are asked of it, so it cannot be None."""
    return SymbolicZero(kind.to_ct_aval() if hasattr(kind, "to_ct_aval") else kind.to_tangent_aval())
