"""How a call's results move with its operands: a primitive that is linear in their tangents.

JAX runs it forwards, where it is the tangent function that KP_JVP declares, or backwards (its transpose), where it is the backward
functions of KP_GRAD. Which operands move is known while tracing, so a backward function runs only if one of its results is wanted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _backwards, _devices, _forwards, _run, _varying
from ._function import Function
from ._step import Step


@functools.cache
def of(function: Function) -> Primitive:
    """The step of each call of the function."""
    found = Primitive(f"{function.full_name}.tangent")
    found.multiple_results = True
    found.def_abstract_eval(lambda *_, step, needs=None: [step.types[result] for result in step.results])
    found.def_impl(functools.partial(_run.compiled, found, f"{function.name}_tangent"))
    mlir.register_lowering(found, mlir.lower_fun(_forward, multiple_results=True))
    ad.primitive_jvps[found] = _jvp
    ad.primitive_transposes[found] = _transpose
    batching.primitive_batchers[found] = _batch
    _varying.register(found)
    return found


def bind(step: Step, arrays: Sequence[Any]) -> list[Any]:
    return of(step.config.function).bind(*arrays, step=step, **_devices.needed())


def _forward(*arrays: Any, step: Step, needs: Any = None) -> list[Any]:
    del needs
    tangents = dict(zip(step.moved, arrays[step.num_kept :], strict=True))
    return _forwards.run(step, step.saved(arrays[: step.num_kept]), tangents)


def _batch(arrays: Sequence[Any], dims: Sequence[Any], *, step: Step, needs: Any = None) -> tuple[list[Any], list[int]]:
    del needs
    run = functools.partial(_forward, step=step)
    outputs = jax.vmap(run, in_axes=tuple(dims))(*arrays)
    return outputs, [0] * len(outputs)


def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, step: Step, needs: Any = None
) -> tuple[list[Any], list[Any]]:
    del needs
    moving = [index for index, tangent in enumerate(tangents) if not isinstance(tangent, ad.Zero)]
    if all(index >= step.num_kept for index in moving):
        own = [ad.instantiate_zeros(tangent) for tangent in tangents[step.num_kept :]]
        return bind(step, primals), bind(step, [*primals[: step.num_kept], *own])
    # The kept arrays have tangents too, so the tangent function itself is differentiated.
    along = _with_moving(functools.partial(_forward, step=step), primals, moving)
    return jax.jvp(along, [primals[index] for index in moving], [tangents[index] for index in moving])


def _with_moving(
    run: Callable[..., list[Any]], primals: Sequence[Any], moving: Sequence[int]
) -> Callable[..., list[Any]]:
    def along(*given: Any) -> list[Any]:
        arrays = list(primals)
        for index, value in zip(moving, given, strict=True):
            arrays[index] = value
        return run(*arrays)

    return along


def _transpose(cotangents: Sequence[Any], *arrays: Any, step: Step, needs: Any = None) -> list[Any]:
    del needs
    saved = step.saved(arrays[: step.num_kept])
    asked = [
        operand
        for operand, array in zip(step.moved, arrays[step.num_kept :], strict=True)
        if ad.is_undefined_primal(array)
    ]
    arrived = dict(zip(step.results, cotangents, strict=True))
    gradients = _backwards.run(step, saved, asked, [arrived.get(i, ad.Zero(t)) for i, t in enumerate(step.types)])
    return [None] * step.num_kept + [gradients.get(operand) for operand in step.moved]
