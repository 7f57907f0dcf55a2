"""Jaxprs, HLO and profiles name each function by its own name; a parameter may have any name of a parameter of JAX's functions."""

from __future__ import annotations

import inspect
import re

import jax
import jax.numpy as jnp
import kernpack
import numpy as np
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


def names_of_jax():
    """The parameters of all that kernels' attributes and arrays are passed through, and of our own functions on the way."""
    from jax.interpreters import mlir
    from kernpack.jax import _op, _primitive, _raw_call, _run

    functions = [jax.ffi.ffi_call, jax.ffi.ffi_lowering, jax.ffi.ffi_lowering("x"), jax.ffi.ffi_call("x", ()), jax.jit]
    functions += [jax.named_scope, mlir.lower_fun, jax.custom_jvp.__call__, _primitive.of, _primitive.bind]
    functions += [_primitive._lower, _primitive._abstract_eval, _raw_call.lower, _run.compiled, _op.call]
    return sorted({name for function in functions for name in inspect.signature(function).parameters} - {"self"})


def test_parameters_may_be_named_as_those_of_jaxs_functions():
    names = names_of_jax()
    assert {"ctx", "name", "params", "operands", "args", "kwargs", "config"} <= set(names)
    count = len(names)
    ints = ", ".join(f"int64_t a{i}" for i in range(count))
    total = " + ".join(f"a{i}" for i in range(count))
    several = "ctx: list[int], operands: list[f32[_]], name: float, params: str?"
    k = kernpack.load_inline(
        f"void ints({ints}, kp::MutTensorView o) {{ o.data_ptr<float>()[0] = {total}; }}\n"
        "int64_t last;\n"
        f"void nothing({ints}) {{ last = {total}; }}\n"
        "void read(int64_t n, kp::MutTensorView o) { o.data_ptr<float>()[0] = n + last; }\n"
        "void more(kp::ListView<int64_t> c, kp::ListView<kp::TensorView> xs, double f, std::optional<kp::StringView> s,"
        " kp::MutTensorView o) { o.data_ptr<float>()[0] = c[0] + xs.size() + f + (s ? s->size() : 100); }",
        {
            "ints": f"({', '.join(f'{name}: int' for name in names)}) -> (o__: f32[1])",
            "nothing": f"({', '.join(f'{name}: int' for name in names)}) -> ()",
            "read": "(n: int) -> (o: f32[1])",
            "more": f"({several}) -> (o__: f32[1])",
        },
        name="jax_names",
    )
    given = {name: i for i, name in enumerate(names)}
    x = jnp.ones(1, jnp.float32)
    assert jax.jit(lambda: k.ints(**given))().tolist() == [sum(range(count))]
    ops = kernpack.jax.ops(k)
    jax.block_until_ready(jax.jit(lambda x: (ops.nothing(**given), x + 1)[1])(x))
    jax.effects_barrier()
    assert np.from_dlpack(k.read(0))[0] == sum(range(count))
    assert jax.jit(lambda x: k.more([3], [x, x], 0.5, None))(x).tolist() == [105.5]
    assert jax.vmap(lambda x: k.more([3], [x, x], 0.5, "ab"))(x[None]).tolist() == [[7.5]]
