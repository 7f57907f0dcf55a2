"""Objects with `__jax_array__`, such as flax.nnx.Param, wherever an array may stand."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from wide import close

W = np.array([1.0, 2.0, 3.0], np.float32)
X = np.arange(6, dtype=np.float32).reshape(2, 3)


class Param:
    """An array in a box."""

    def __init__(self, value):
        self.value = value

    def __jax_array__(self):
        return self.value


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_alone_and_beside_arrays(k, g, wrap):
    def both(w):
        return k.axpb(Param(w)), g.scale(X, Param(w)), g.scale(Param(jnp.asarray(X)), w), g.scale(x=X, w=Param(w))

    for _ in range(2):
        first, *scaled = wrap(both)(jnp.asarray(W))
        assert all(isinstance(array, jax.Array) for array in (first, *scaled))
        close(first, W * 2 + 0.5)
        close(scaled, [X * W] * 3)
    close(wrap(lambda w: g.mixed(jnp.asarray(X), X[:1], [Param(w), w]))(jnp.asarray(W)), X + X[:1] + 2 * W)


def test_its_value_may_be_numpys(g):
    got = g.scale(Param(X), Param(W))
    assert isinstance(got, jax.Array)
    close(got, X * W)


def test_gradients_go_through_objects_with_jax_array(g):
    close(jax.grad(lambda w: g.scale(X, Param(w)).sum())(W), X.sum(0))
    close(jax.grad(lambda x: g.ranked([Param(x), x]).sum())(X), 6 * X)
    close(jax.vmap(lambda w: g.scale(X, Param(w)))(jnp.stack([W, 2 * W])), np.stack([X * W, 2 * X * W]))


def test_a_value_that_changes(g):
    param = Param(jnp.asarray(W))
    g.scale(X, param)
    param.value = param.value * 2
    close(g.scale(X, param), X * W * 2)


def test_explicit_ops(g):
    import kernpack.jax

    close(kernpack.jax.ops(g).scale(Param(X), Param(W)), X * W)


def test_objects_that_give_no_array_are_refused(g):
    with pytest.raises(ValueError, match=r"scale: w: expected shape \[D\] with D = 3"):
        g.scale(X, Param(jnp.ones(2)))
    with pytest.raises(
        TypeError,
        match=r"scale: w: expected a JAX array like the other arguments, got Param, whose __jax_array__\(\) gives str",
    ):
        g.scale(X, Param("none"))
    with pytest.raises(TypeError, match=r"scale: w: expected a JAX array like the other arguments, got object"):
        g.scale(Param(X), object())
