"""Eager calls that were made before: from the arguments straight to the compiled program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from . import _arguments, _errors, _op
from ._function import Function

_ARRAY = type(jnp.zeros(()))  # of eager arrays; tracers are of other types
_SELF_KEYED = frozenset((int, bool, str, type(None)))  # with their type, equal ones mean the same program
_MOST = 4096

_programs: dict[tuple[Any, ...], tuple[Callable[..., Any], bool]] = {}


def call(function: Function, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """As _op.call."""
    key: list[Any] = [function]
    arrays = []
    for value in args:
        if type(value) is _ARRAY:
            arrays.append(value)
            key.append(None)
        elif not _add(key, value):
            return _op.call(function, args, kwargs)
    for name, value in kwargs.items():
        key.append(name)
        if not _add(key, value):
            return _op.call(function, args, kwargs)
    found = _programs.get(tuple(key))
    if found is None:
        return _first(function, tuple(key), args, kwargs)
    program, waits = found
    try:
        outputs = program(*arrays)
        if waits:
            _op.wait(outputs)
    except jax.errors.JaxRuntimeError as error:
        raise _errors.restored(error) from None
    return _op.result_of(outputs)


def _add(key: list[Any], value: object) -> bool:
    kind = type(value)
    if kind is float:
        value = value.hex()  # type: ignore[attr-defined]  # tells -0.0 from 0.0, and NaN is equal to itself
    elif kind not in _SELF_KEYED:
        return False
    key.append(kind)
    key.append(value)
    return True


def _first(function: Function, key: tuple[Any, ...], args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    outputs = _op.call(function, args, kwargs)
    config, _ = _arguments.split(function, function.info._bind(args, kwargs))
    if not any(parameter.scalar_ok for parameter in config.operands):  # whose numbers are given a dtype first
        if len(_programs) >= _MOST:
            _programs.clear()
        _programs[key] = (_op.program(config), _op.waits(function))
    return outputs
