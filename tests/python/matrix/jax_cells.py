"""The behaviour of each function in JAX, one column per transformation: a check gives the cell's word, or fails."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
from jax.test_util import check_grads
from op_sample import Sample, flat

ITEMS = 3


def eager(op: Callable[..., Any], sample: Sample) -> str:
    found = op(*jax.device_put(sample.args), **sample.kwargs)
    assert all(isinstance(output, jax.Array) for output in jax.tree.leaves(found))
    sample.same(found, sample.expected(op))
    return "yes"


def jit(op: Callable[..., Any], sample: Sample) -> str:
    sample.same(jax.jit(functools.partial(op, **sample.kwargs))(*sample.args), sample.expected(op))
    return "yes"


def vmap(op: Callable[..., Any], sample: Sample) -> str:
    axes = [0 if index in sample.mapped else None for index in range(len(sample.args))]
    stacked = sample.stacked(ITEMS)
    found = flat(jax.jit(jax.vmap(functools.partial(op, **sample.kwargs), axes))(*stacked))
    for n in range(ITEMS):
        sample.same([output[n] for output in found], sample.call(op, sample.item(stacked, n)))
    return "yes"


def grad(op: Callable[..., Any], sample: Sample) -> str:
    floats = sample.floats()

    def of_floats(*values: jax.Array) -> Any:
        args = [values[floats.index(i)] if i in floats else value for i, value in enumerate(sample.args)]
        return op(*args, **sample.kwargs)

    given = [sample.args[i] for i in floats]
    check_grads(jax.jit(of_floats), given, 1, modes=["rev"], **sample.slopes)
    return "yes"


def export(op: Callable[..., Any], sample: Sample) -> str:
    import kernpack.jax

    jitted = jax.jit(functools.partial(op, **sample.kwargs))
    program = kernpack.jax.export(jitted)(*jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), sample.args))
    again = kernpack.jax.deserialize(program.serialize())
    sample.same(again.call(*sample.args), sample.expected(op))
    return "yes"


COLUMNS = {"eager": eager, "jit": jit, "vmap": vmap, "grad": grad, "export": export}
