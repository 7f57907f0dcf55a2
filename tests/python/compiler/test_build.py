"""Modules that generators make are kernels like any other, in every framework."""

from __future__ import annotations

import gc
import pickle

import kernpack
import numpy as np
import pytest

pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")
import kernpack_compiler as kc
from built import MODULE, expected_softmax, rows, scale
from kernpack_compiler import ir


@pytest.fixture(scope="module", params=["c", "llvm"])
def built(request) -> kc.BuiltModule:
    if request.param not in kc.list_generators():
        pytest.skip(f"this build has no generator of kind {request.param}")
    return kc.build(MODULE, request.param)


def test_numpy_calls_a_built_module(built: kc.BuiltModule) -> None:
    x = rows()
    np.testing.assert_allclose(built.softmax(x), expected_softmax(x), rtol=2e-6)
    np.testing.assert_array_equal(built.scale(x[0].copy(), 2.0), x[0] * 2)
    assert built.softmax(np.empty((0, 5), np.float32)).shape == (0, 5)
    assert (built.name, built.ir) == ("generated", MODULE)
    assert "softmax" in repr(built.functions["softmax"])


def test_the_contract_is_checked(built: kc.BuiltModule) -> None:
    with pytest.raises(TypeError, match=r"softmax: x: .*f32.*f64"):
        built.softmax(rows().astype(np.float64))
    with pytest.raises(ValueError, match=r"softmax: x: "):
        built.softmax(rows()[0].copy())
    with pytest.raises(AttributeError, match="no function 'softmin'; did you mean 'softmax'"):
        built.softmin(rows())


def test_torch_calls_compiles_and_batches_a_built_module(built: kc.BuiltModule) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x = torch.from_numpy(rows())
    expected = torch.softmax(x, -1)
    torch.testing.assert_close(built.softmax(x), expected)
    compiled = torch.compile(lambda x: built.softmax(x) * 2, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), expected * 2)
    batch = torch.stack([x, x + 1])
    torch.testing.assert_close(torch.func.vmap(lambda x: built.softmax(x))(batch), torch.softmax(batch, -1))


def test_torch_gradient(built: kc.BuiltModule) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x = torch.from_numpy(rows()).requires_grad_()
    weight = torch.arange(x.numel(), dtype=torch.float32).reshape(x.shape)
    (ours,) = torch.autograd.grad((built.softmax(x) * weight).sum(), x)
    (theirs,) = torch.autograd.grad((torch.softmax(x, -1) * weight).sum(), x)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_jax_calls_compiles_and_batches_a_built_module(built: kc.BuiltModule) -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    x = jax.numpy.asarray(rows())
    expected = jax.nn.softmax(x)
    np.testing.assert_allclose(built.softmax(x), expected, rtol=2e-6)
    np.testing.assert_allclose(jax.jit(built.softmax)(x), expected, rtol=2e-6)
    batch = jax.numpy.stack([x, x + 1])
    np.testing.assert_allclose(jax.vmap(built.softmax)(batch), jax.nn.softmax(batch), rtol=2e-6)

    def loss(f):
        return jax.grad(lambda x: (f(x) * x).sum())(x)

    np.testing.assert_allclose(loss(built.softmax), loss(jax.nn.softmax), rtol=1e-4, atol=1e-6)


def test_many_ways_to_name_what_is_built() -> None:
    for what in (scale, str(scale), ir.IRModule([scale])):
        assert list(kc.build(what, "c").functions) == ["scale"]
    assert kc.build(ir.IRModule([scale], "named", "c")).target == kc.Target("c")
    with pytest.raises(TypeError, match="build: expected an IRModule, a PrimFunc or their text, got int"):
        kc.build(3, "c")


def test_pickled_modules_are_built_again(built: kc.BuiltModule) -> None:
    again = pickle.loads(pickle.dumps(built))
    assert (again.ir, again.target) == (built.ir, built.target)
    np.testing.assert_array_equal(again.softmax(rows()), built.softmax(rows()))


def test_source_is_shown() -> None:
    assert "softmax" in kc.build(MODULE, "c").source


def test_what_is_built_outlives_its_module() -> None:
    function = kc.build(scale, "c").scale
    gc.collect()
    np.testing.assert_array_equal(function(np.ones(3, np.float32), 3.0), [3, 3, 3])


@pytest.mark.parametrize(
    ("module", "target", "error", "message"),
    [
        ("func f() -> () { barrier }", "c", ValueError, "line 1, column 18: f: barrier outside a launch"),
        ("func f(", "c", ValueError, "line 1, column 8: "),
        ('func f() -> () grad "g" { }', "c", ValueError, "its gradient 'g' isn't a function of this module"),
        ("private func f() -> () { }", "c", ValueError, "private"),
        ("func f() -> () { }", None, ValueError, "module 'module' names no target; pass one"),
        ("func f() -> () { }", "c -mcppu=x", ValueError, "has no option 'mcppu'"),
        ("func f() -> () { }", "fpga", ValueError, "fpga"),
        ("func f() -> () { }", "test", RuntimeError, "target kind 'test' has no code generator; enabled: c"),
        ('func f(x: f32[N]) -> () signature "(x: f32[" { }', "c", ValueError, "f: signature"),
        (
            'func f(x: f32[N]) -> (y: f32[N]) grad "g" { } func g(x: f32[N]) -> (z: f32[N]) { }',
            "c",
            (ValueError, ImportError),
            "f",
        ),
    ],
)
def test_what_cannot_be_built(module: str, target: str | None, error, message: str) -> None:
    with pytest.raises(error, match=message):
        kc.build(module, target)


def test_values_cross_packed_functions() -> None:
    seen: list[object] = []
    values = [
        MODULE,
        MODULE["scale"],
        kc.Target("cuda -arch=sm_90 -host=llvm"),
        kc.VirtualDevice("cpu", 3, "llvm", "global"),
    ]
    kernpack.register_func("test_build.echo", lambda value: seen.append(value) or value)
    try:
        echo = kernpack.get_func("test_build.echo")
        assert [echo(value) for value in values] == values == seen
    finally:
        kernpack.remove_func("test_build.echo")


@ir.func("() -> (one: f32[1])")
def one(one):
    one[0] = 1.0


def test_a_function_without_parameters_leaves_others_to_the_compiler() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    k = kc.build(ir.IRModule([one, scale], "parameterless"), "c")
    compiled = torch.compile(lambda x: k.scale(x, 2.0), fullgraph=True)
    torch.testing.assert_close(compiled(torch.ones(3)), torch.full((3,), 2.0))
