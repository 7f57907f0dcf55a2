"""Jaxprs, HLO and profiles name each function by its own name."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from wide import normal

pytestmark = pytest.mark.usefixtures("x64")
X, W = normal(8, 5), normal(5)


def op_names(function, *args):
    """Of the kernels' custom calls in the compiled program, what a profile shows."""
    program = jax.jit(function).lower(*args).compile().as_text()
    calls = [line for line in program.splitlines() if "kernpack.call.v1" in line]
    return [re.search(r'op_name="([^"]*)"', line)[1] for line in calls]


def test_jaxprs_show_module_and_function(g):
    jaxpr = str(jax.make_jaxpr(lambda x, w: g.plain(g.scale(x, w)[0]))(X, W))
    assert re.search(r"= jax_gradients\.scale\[", jaxpr)
    assert re.search(r"= jax_gradients\.plain\[", jaxpr)


def test_operations_of_hlo_are_named_after_module_and_function(g):
    first, second = op_names(lambda x, w: g.plain(g.scale(x, w)[0]), X, W)
    assert first.endswith("/jax_gradients.scale")
    assert second.endswith("/jax_gradients.plain")


def test_hlo_of_gradients(g):
    names = op_names(jax.grad(lambda x: jnp.sin(g.scale(x, W)).sum()), X)
    assert [name.rpartition("/")[2] for name in names] == ["jax_gradients.scale", "jax_gradients.scale_backward"]


def test_hlo_over_many_devices(g, devices):
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    names = op_names(g.scale, jax.device_put(X, NamedSharding(mesh, P("data"))), W)
    assert [name for name in names if "jax_gradients.scale" in name] == names != []


def test_hlo_of_a_function_without_results(k):
    names = op_names(lambda x: (k.watched(x), x + 1)[1], jnp.ones(2, jnp.float32))
    assert ["jax_kernels.watched" in name for name in names] == [True]
