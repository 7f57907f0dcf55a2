"""What each function does in JAX, one column a transformation: a check gives the cell's word, or fails."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.test_util import check_grads
from samples import Sample

ITEMS = 3


def _flat(outputs: Any) -> list[np.ndarray]:
    return [np.asarray(output) for output in (outputs if isinstance(outputs, tuple) else (outputs,))]


def _same(found: Any, expected: Any, sample: Sample) -> None:
    for a, b in zip(_flat(found), _flat(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=sample.tolerance, atol=sample.tolerance)


def eager(op: Callable[..., Any], sample: Sample) -> str:
    found = op(*jax.device_put(sample.args), **sample.kwargs)
    assert all(isinstance(output, jax.Array) for output in jax.tree.leaves(found))
    _same(found, op(*sample.args, **sample.kwargs), sample)
    return "yes"


def jit(op: Callable[..., Any], sample: Sample) -> str:
    _same(jax.jit(functools.partial(op, **sample.kwargs))(*sample.args), op(*sample.args, **sample.kwargs), sample)
    return "yes"


def vmap(op: Callable[..., Any], sample: Sample) -> str:
    axes = [0 if index in sample.mapped else None for index in range(len(sample.args))]
    stacked = sample.stacked(ITEMS)
    found = _flat(jax.jit(jax.vmap(functools.partial(op, **sample.kwargs), axes))(*stacked))
    for n in range(ITEMS):
        _same(tuple(output[n] for output in found), op(*sample.item(stacked, n), **sample.kwargs), sample)
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
    program = kernpack.jax.export(jitted)(*(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in sample.args))
    again = kernpack.jax.deserialize(program.serialize())
    _same(again.call(*sample.args), op(*sample.args, **sample.kwargs), sample)
    return "yes"


COLUMNS = {"eager": eager, "jit": jit, "vmap": vmap, "grad": grad, "export": export}
