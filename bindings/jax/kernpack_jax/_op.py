"""A function of a module as JAX programs call it: keywords, defaults, and a compiled program for each configuration."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax

from . import _aliases, _arguments, _gradient, _primitive
from ._arguments import Config
from ._errors import errors
from ._function import Function

_primitive.set_jvp(_gradient.jvp)


@functools.lru_cache(maxsize=4096)
def program(config: Config) -> Callable[..., tuple[jax.Array, ...]]:
    """The call as a jitted function: inlined where a program is being traced; run eagerly, compiled once a shape."""

    def call(*arrays: jax.Array) -> tuple[jax.Array, ...]:
        outputs = tuple(_primitive.bind(config, arrays, aux=False))
        new_values = len(config.mutated)
        return outputs[:new_values] + tuple(outputs[new_values + index] for index in config.function.returned)

    call.__name__ = config.function.name
    return jax.jit(call, inline=True)


def call(function: Function, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """Returns the results that NumPy arrays would give: None, one array, or a tuple.

    Parameters written in place come back as new values, before the results; only inside jax.jit and its like, because an
    eager JAX array cannot change. Under jax.disable_jit nobody can tell which calls jax.jit encloses, so all may do it.
    """
    config, arrays = _arguments.split(function, function.info._bind(args, kwargs))
    traced = any(isinstance(array, jax.core.Tracer) for array in arrays)
    if not traced and function.mutates and not jax.config.jax_disable_jit:  # type: ignore[attr-defined]
        _refuse_mutation(config)
    _aliases.refuse(config, arrays)
    if traced:
        outputs = program(config)(*arrays)
    else:
        with errors():
            outputs = program(config)(*arrays)
            if waits():
                wait(outputs)
    return unpack_result(_grouped(config, outputs))


def _grouped(config: Config, outputs: tuple[jax.Array, ...]) -> tuple[jax.Array | list[jax.Array], ...]:
    """The new values of a list that is written in place are a list again."""
    values = list(outputs)
    grouped: list[jax.Array | list[jax.Array]] = []
    for parameter, (tag, length) in zip(config.function.parameters, config.slots, strict=True):
        if parameter.mutated and tag == "tensors":
            grouped.append(values[:length])
            del values[:length]
        elif parameter.mutated and tag == "tensor":
            grouped.append(values.pop(0))
    return (*grouped, *values)


def wait(outputs: tuple[jax.Array, ...]) -> None:
    """Until they are there. What is being traced, constants of an outer program included, never is."""
    for output in outputs:
        if not isinstance(output, jax.core.Tracer):
            output.block_until_ready()


def unpack_result(outputs: tuple[object, ...]) -> object:
    """None, one array, or the tuple."""
    if not outputs:
        return None
    return outputs[0] if len(outputs) == 1 else outputs


@functools.cache
def waits() -> bool:
    """True if eager calls wait for their results, so that an error of a kernel belongs to its call. On devices other than the CPU, no
    kernel raises while it runs."""
    return jax.default_backend() == "cpu"


def _refuse_mutation(config: Config) -> None:
    for parameter, slot in zip(config.function.parameters, config.slots, strict=True):
        if parameter.mutated and slot[0] in ("tensor", "tensors"):
            raise TypeError(
                f"{config.function.name}: {parameter.name}: is written in place, and JAX arrays are immutable; call it "
                "inside jax.jit, where it returns the new value"
            )
