"""Reverse mode from KP_GRAD, against the same mathematics in jax.numpy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax.test_util import check_grads
from wide import close, normal

pytestmark = pytest.mark.usefixtures("x64")
X, W = normal(3, 4, 5), normal(5)


def ours(g):
    return lambda x, w: jnp.sin(g.scale(x, w)).sum()


def theirs(x, w):
    return jnp.sin(x * w).sum()


@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, jax.checkpoint], ids=["eager", "jit", "remat"])
def test_grad(g, argnums, wrap):
    close(jax.grad(wrap(ours(g)), argnums)(X, W), jax.grad(theirs, argnums)(X, W))


def test_check_grads(g):
    check_grads(g.scale, (X, W), 1, modes=["rev"])


def test_value_and_pullback(g):
    out, pullback = jax.vjp(g.scale, X, W)
    expected, expected_pullback = jax.vjp(lambda x, w: x * w, X, W)
    close(out, expected)
    close(pullback(X), expected_pullback(X))


def test_only_the_backward_that_is_needed_runs(g):
    before = g.left_runs()
    close(jax.grad(lambda b: g.times(X, b).sum())(X), X)
    assert g.left_runs() == before
    close(jax.grad(lambda a: g.times(a, X).sum())(X), X)
    assert g.left_runs() == before + 1


def test_an_argument_without_gradient_keeps_nothing(g):
    jaxpr = str(jax.make_jaxpr(jax.grad(lambda b: g.times(X, b).sum()))(X))
    assert "times_right" in jaxpr
    assert "times_left" not in jaxpr


def test_second_order_where_the_backward_declares_it(g):
    def cube(times):
        return lambda x: times(times(x, x), x).sum()

    close(jax.grad(lambda x: jax.grad(cube(g.times))(x).sum())(X), 6 * X)


def test_second_order_where_it_does_not(g):
    twice = jax.grad(lambda x: jax.grad(lambda x: ours(g)(x, W))(x).sum())
    with pytest.raises(TypeError, match=r"scale_backward: d_out: .*has no gradient; declare one with KP_GRAD"):
        twice(X)


def test_aux_results_are_saved_and_not_returned(g):
    out, count = g.square(X, factor=3.0)
    close(out, 3 * X * X)
    assert count == X.size
    close(jax.grad(lambda x: g.square(x, factor=3.0)[0].sum())(X), 6 * X)


def test_an_unused_cotangent_is_none_where_declared_optional(g):
    x = X[0, 0]
    close(jax.grad(lambda x: g.both(x)[0].sum())(x), jnp.full(5, 1001.0))
    close(jax.grad(lambda x: sum(r.sum() for r in g.both(x)))(x), jnp.full(5, 3.0))
    close(jax.grad(lambda x: g.both(x)[1].sum())(x), jnp.full(5, 2.0))


def test_complex_gradients_are_jaxs(g):
    z = X + 1j * X[::-1]
    loss = lambda square: lambda z: jnp.abs(jnp.sum(square(z) * (1 + 2j)))  # noqa: E731
    close(jax.grad(loss(g.complex_square))(z), jax.grad(loss(lambda z: z * z))(z))


def test_nondiff_arguments_and_lists(g):
    mask = jnp.zeros((1, 4, 5))
    close(jax.grad(lambda x: g.mixed(x, mask, [W, W]).sum())(X), jnp.ones_like(X))
    close(jax.grad(lambda m: g.mixed(X, m, []).sum())(mask), jnp.zeros_like(mask))
    close(jax.grad(lambda w: g.mixed(X, mask, [w]).sum())(W), jnp.zeros_like(W))


def test_each_item_of_a_list_has_a_gradient(g):
    """The backward function runs once an item that needs one; items may have sizes of their own."""
    xs = [normal(2, 3), normal(1, 3), normal(4, 3)]
    check_grads(lambda *items: g.ranked(list(items)), xs, order=2, modes=["rev"])
    close(jax.grad(lambda x: g.ranked([xs[0], x, xs[2]]).sum())(xs[1]), 4 * xs[1])
    each = jax.vmap(jax.grad(lambda x: g.ranked([xs[0], x]).sum()))(jnp.ones((5, 2, 3)))
    close(each, jnp.full((5, 2, 3), 4.0))
    close(jax.jit(jax.grad(lambda items: g.ranked(items).sum()))(xs), [2 * (i + 1) * x for i, x in enumerate(xs)])


def test_no_gradient_declared(g):
    words = r"plain: x: cannot be differentiated: the function has no gradient; declare one with KP_GRAD\(plain, "
    with pytest.raises(TypeError, match=words):
        jax.grad(lambda x: g.plain(x).sum())(W)
    close(jax.grad(lambda m: g.shifted(W, m).sum())(W), jnp.zeros(5))  # nondiff, and no KP_GRAD at all
    close(jax.grad(lambda x: (g.plain(jax.lax.stop_gradient(x)) * x).sum())(W), W)


def test_forward_mode(g):
    with pytest.raises(TypeError, match=r"forward-mode"):
        jax.jvp(lambda x: g.scale(x, W), (X,), (X,))
    with pytest.raises(TypeError, match="plain: x: cannot be differentiated"):
        jax.jvp(g.plain, (W,), (W,))


def test_loops(g):
    def loss(scale):
        def step(carry, w):
            return jnp.tanh(scale(carry, w)), None

        return lambda x, ws: jax.lax.scan(jax.checkpoint(step), x, ws)[0].sum()

    ws = jnp.stack([W, W + 1, W - 1])
    close(jax.grad(loss(g.scale), (0, 1))(X, ws), jax.grad(loss(lambda x, w: x * w), (0, 1))(X, ws))


def test_frozen_and_integer_inputs_in_one_tree(g):
    def loss(tree):
        return ours(g)(tree["x"], jax.lax.stop_gradient(tree["w"])) * tree["n"]

    got = jax.grad(loss, allow_int=True)({"x": X, "w": W, "n": 2})
    close(got["x"], 2 * jax.grad(theirs)(X, W))
    assert not got["w"].any()
