"""Eager calls that were made before: the call core goes straight to the compiled program, and must choose the right one."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax_modules import run_python

X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
NAN = float("nan")


@pytest.fixture
def x():
    return jnp.asarray(X)


@pytest.fixture
def no_python(monkeypatch):
    """From here on a call that is not made by the call core fails."""
    from kernpack.jax import _op

    def forbid():
        def call(function, args, kwargs):
            raise AssertionError(f"{function}: was not remembered")

        monkeypatch.setattr(_op, "call", call)

    return forbid


def test_calls_like_one_made_before(k, x, no_python):
    k.axpb(x, a=3, b=0.25)
    k.axpb(x=x, b=0.25, a=3)
    k.two_results(x[0])
    no_python()
    three, quarter = int("3"), float("0.25")  # equal, not identical
    np.testing.assert_array_equal(k.axpb(x, a=three, b=quarter), X * 3 + 0.25)
    np.testing.assert_array_equal(k.axpb(x=x + 1, b=quarter, a=three), (X + 1) * 3 + 0.25)
    np.testing.assert_array_equal(k.axpb(x[:, :2], a=3, b=0.25), X[:, :2] * 3 + 0.25)  # jax.jit sees the new shape
    assert len(k.two_results(x[1])) == 2
    with pytest.raises(AssertionError, match="was not remembered"):
        k.axpb(x, a=4, b=0.25)
    with pytest.raises(AssertionError, match="was not remembered"):
        k.axpb(x, b=0.25, a=3)  # another order of keywords is another call


@pytest.mark.parametrize("first", [0, 1])
def test_which_array_is_which(k, first):
    a, b = jnp.ones(2), jnp.full(2, 5.0)
    calls = [lambda x, bias: k.add_bias(x, bias=bias), lambda x, bias: k.add_bias(bias=bias, x=x)]
    for call in (calls[first], calls[1 - first]) * 2:
        np.testing.assert_array_equal(call(a, a), [2, 2])
        np.testing.assert_array_equal(call(a, b), [6, 6])
    np.testing.assert_array_equal(k.add_bias(a, None), [101, 101])
    np.testing.assert_array_equal(k.add_bias(a, b), [6, 6])
    np.testing.assert_array_equal(k.add_bias(a, None), [101, 101])


def test_static_arguments_that_python_calls_equal(k):
    zero = jnp.full((1,), -0.0, jnp.float32)
    for _ in range(2):
        assert str(np.asarray(k.axpb(zero, a=1, b=-0.0))[0]) == "-0.0"
        assert str(np.asarray(k.axpb(zero, a=1, b=0.0))[0]) == "0.0"
        assert np.isnan(k.axpb(zero, a=1, b=NAN)[0])
        with pytest.raises(TypeError, match="fill: one: expected bool"):
            k.fill(zero, n=1, to="u8", one=1, how="fast")
        np.testing.assert_array_equal(k.fill(zero, n=1, to="u8", one=True, how="fast"), [1])


def test_nan_is_one_program(k, x, no_python):
    k.axpb(x, b=NAN)
    no_python()
    assert np.isnan(k.axpb(x, b=-float("nan"))).all()
    assert np.isnan(k.axpb(x, b=float("inf") * 0)).all()


def test_more_programs_than_are_kept(k, x):
    for _ in range(2):
        for a in range(20):
            np.testing.assert_array_equal(k.axpb(x, a=a, b=0.0), X * a)


def test_a_kernels_error_on_the_short_way(k):
    for _ in range(3):
        np.testing.assert_array_equal(k.positive(jnp.ones(3)), np.ones(3))
        with pytest.raises(ValueError, match=r"^positive: x: expected no negative item, got one at 1$"):
            k.positive(jnp.array([1.0, -1.0, 1.0]))


def test_wrong_shapes_and_dtypes_on_the_short_way(k):
    a = jnp.ones(2)
    k.add_bias(a, a)
    with pytest.raises(ValueError, match="add_bias: bias: expected"):
        k.add_bias(a, jnp.ones(3))
    with pytest.raises(TypeError, match="add_bias: bias: expected dtype"):
        k.add_bias(a, jnp.ones(2, jnp.float16))
    np.testing.assert_array_equal(k.add_bias(np.ones(2, np.float32), a), [2, 2])
    assert isinstance(k.add_bias(np.ones(2, np.float32), np.ones(2, np.float32)), np.ndarray)


def test_transformations_after_eager_calls(k, g, x):
    w = jnp.ones(3)
    np.testing.assert_array_equal(g.scale(x, w), X)
    np.testing.assert_array_equal(jax.jit(g.scale)(x, w), X)
    np.testing.assert_array_equal(jax.grad(lambda x: g.scale(x, w).sum())(x), np.ones_like(X))
    np.testing.assert_array_equal(jax.vmap(lambda x: g.scale(x, w))(x), X)
    np.testing.assert_array_equal(jax.jit(lambda y: y + g.scale(x, w))(x), X + X)  # of constants


def test_after_clear_caches(k, x):
    k.axpb(x, a=3)
    jax.clear_caches()
    np.testing.assert_array_equal(k.axpb(x, a=3), X * 3 + 0.5)


FIRST_TRACED = """
import sys, jax, jax.numpy as jnp, kernpack
k = kernpack.load(sys.argv[1])
jax.jit(lambda x: k.axpb(x, a=3))(jnp.ones(2))  # brings in kernpack.jax while a program is traced
k.axpb(jnp.ones(2), a=3)
from kernpack.jax import _op
_op.call = None
print(k.axpb(jnp.ones(2), a=3))
"""


def test_the_first_call_of_all_may_be_traced(module_path):
    assert run_python(FIRST_TRACED, str(module_path)) == "[3.5 3.5]\n"


def test_the_core_refuses_what_it_cannot_tell_apart(k, x):
    import kernpack._core as core

    for values, names, order in (((x, [1]), (), (0,)), ((x,), (), (1,)), ((x,), (), (-1,)), ((x,), ("a", "b"), (0,))):
        with pytest.raises(ValueError, match="jax_remember: the arguments do not fit each other"):
            core.jax_remember(k.functions["axpb"], values, names, order, print, False)
