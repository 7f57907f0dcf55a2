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
def test_gradients_agree_with_jax_in_every_wrapping(g, argnums, wrap):
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

    def stopped(x, mask, w):
        return g.mixed(x, jax.lax.stop_gradient(mask), jax.lax.stop_gradient([w])).sum()

    close(jax.grad(stopped, (0, 1, 2))(X, mask, W), (jnp.ones_like(X), jnp.zeros_like(mask), jnp.zeros_like(W)))


def jvp_along(function, value):
    return jax.jvp(function, (value,), (value,))


@pytest.mark.parametrize(
    "differentiated",
    [
        lambda f, m: jax.grad(f)(m),
        lambda f, m: jax.vjp(f, m),
        jvp_along,
        lambda f, m: jax.jit(jax.grad(f))(m),
        lambda f, m: jax.grad(jax.jit(f))(m),
        lambda f, m: jax.vmap(jax.grad(f))(jnp.stack([m, m])),
        lambda f, m: jax.grad(jax.checkpoint(f))(m),
    ],
    ids=["grad", "vjp", "jvp", "jit-grad", "grad-jit", "vmap-grad", "remat"],
)
def test_a_nondiff_argument_that_is_differentiated(g, differentiated):
    """Zeros would be a wrong gradient that nobody is told of."""
    says = r"mixed: {0}: cannot be differentiated: the signature says nondiff\({0}\); use jax.lax.stop_gradient on the argument"
    mask = jnp.zeros((1, 4, 5))
    with pytest.raises(TypeError, match=says.format("mask")):
        differentiated(lambda m: g.mixed(X, m, []).sum(), mask)
    with pytest.raises(TypeError, match=says.format("mask")):  # as a value that the function closes over
        differentiated(lambda m: jax.vmap(lambda x: g.mixed(x, m[0], []))(X).sum(), mask)
    with pytest.raises(TypeError, match=says.format("more")):
        differentiated(lambda w: g.mixed(X, mask, [W, w]).sum(), W)


def test_a_nondiff_argument_without_derivative(g):
    """Whole numbers and bools have none, and neither has what is computed from them."""
    close(jax.grad(lambda x: g.chosen(x, X > 0, jnp.arange(5)).sum())(X), jnp.where(X > 0, 2.0, 0.0))
    both = jax.grad(lambda x, keep, rows: g.chosen(x, keep, rows).sum(), (0, 1, 2), allow_int=True)
    d_x, d_keep, d_rows = jax.jit(both)(X, X > 0, jnp.arange(5))
    close(d_x, jnp.where(X > 0, 2.0, 0.0))
    assert d_keep.dtype == d_rows.dtype == jax.dtypes.float0
    masked = lambda x: g.mixed(x, jnp.where(x > 0, 0.0, -1.0)[:1], []).sum()  # noqa: E731
    close(jax.jit(jax.grad(masked))(X), jnp.ones_like(X))


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
    with pytest.raises(TypeError, match=r"shifted: by: cannot be differentiated: the signature says nondiff\(by\)"):
        jax.grad(lambda m: g.shifted(W, m).sum())(W)  # no KP_GRAD at all
    close(jax.grad(lambda x: (g.plain(jax.lax.stop_gradient(x)) * x).sum())(W), W)


def test_gradients_go_through_scan(g):
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
