"""Eager calls: each distinct one is made here once; the call core makes those like it, straight to the compiled program."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import kernpack._core as _core
from kernpack._system import after_fork

from . import _arguments, _errors, _op
from ._function import Function

with jax.ensure_compile_time_eval():  # the first array that a kernel meets may be met while a program is traced
    _ARRAY = type(jnp.zeros(()))
_TOLD_APART = frozenset((_ARRAY, int, bool, float, str, type(None)))
_core.jax_arrays(_ARRAY, _errors.restored)

_forked = False


def _after_fork() -> None:
    """In the child: JAX's threads are gone, and whoever waits for them would wait for ever."""
    global _forked
    _forked = True
    _core.jax_arrays(_Nothing, _errors.restored)  # so that the call core makes no call by itself


class _Nothing:
    """The type of no array."""


after_fork(_after_fork)


def call(function: Function, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """As _op.call; whatever else decides what is compiled, shapes and devices, the program itself looks at."""
    if _forked:
        raise RuntimeError(
            f"{function.name}: JAX does not work in a process that was forked from one that used it; start such processes "
            "with multiprocessing's 'spawn' method, or give the kernel NumPy arrays"
        )
    outputs = _op.call(function, args, kwargs)
    values = (*args, *kwargs.values())
    kinds = {type(value) for value in values}
    if _ARRAY in kinds and kinds <= _TOLD_APART:  # without an array, a call isn't always JAX's
        _remember(function, args, kwargs, values)
    return outputs


def _remember(
    function: Function, args: tuple[object, ...], kwargs: dict[str, object], values: tuple[object, ...]
) -> None:
    config, _ = _arguments.split(function, function.info._bind(args, kwargs))
    if config.mutated or any(p.scalar_ok for p in config.operands):  # refused; numbers that are given a dtype first
        return
    names = {name: len(args) + index for index, name in enumerate(kwargs)}
    places = function.info._bind(tuple(range(len(args))), names)
    order = tuple(places[owner] for owner in config.owners)
    _core.jax_remember(function.info, values, tuple(kwargs), order, _op.program(config), _op.waits())
