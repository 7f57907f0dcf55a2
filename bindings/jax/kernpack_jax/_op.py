"""A function of a module as JAX programs call it: keywords, defaults, and a compiled program for each configuration."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax

from . import _arguments
from ._arguments import Config
from ._errors import errors
from ._function import Function
from ._raw_call import raw_call


@functools.lru_cache(maxsize=4096)
def _program(config: Config) -> Callable[..., tuple[jax.Array, ...]]:
    # Inlined where a program is being traced; run eagerly, it is compiled once a shape.
    def call(*arrays: jax.Array) -> tuple[jax.Array, ...]:
        return raw_call(config, arrays)

    call.__name__ = config.function.name
    return jax.jit(call, inline=True)


def call(function: Function, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """What the NumPy path gives for the same arguments: None, one array, or a tuple.

    Parameters written in place come back as new values, before the results; only inside jax.jit and its like, because an
    eager JAX array cannot change.
    """
    config, arrays = _arguments.split(function, function.info._bind(args, kwargs))
    tracing = any(isinstance(array, jax.core.Tracer) for array in arrays)
    if tracing:
        outputs = _program(config)(*arrays)
    else:
        if function.mutates:
            _refuse_mutation(config)
        with errors():
            outputs = jax.block_until_ready(_program(config)(*arrays))
    return _pick(config, outputs)


def _refuse_mutation(config: Config) -> None:
    for parameter, slot in zip(config.function.parameters, config.slots, strict=False):
        if parameter.mutated and slot[0] in ("tensor", "tensors"):
            raise TypeError(
                f"{config.function.name}: {parameter.name}: is written in place, and JAX arrays are immutable; call it "
                "inside jax.jit, where it returns the new value"
            )


def _pick(config: Config, outputs: tuple[jax.Array, ...]) -> object:
    function = config.function
    num_mutated = len(outputs) - function.num_results
    kept = list(outputs[:num_mutated]) + [outputs[num_mutated + index] for index in function.returned]
    if not kept:
        return None
    return kept[0] if len(kept) == 1 else tuple(kept)
