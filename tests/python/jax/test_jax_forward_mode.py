"""Forward mode from KP_JVP, against the same mathematics in jax.numpy; an error that names the function where it has none."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from jax.test_util import check_grads
from meshes import shard_map, using
from wide import close, normal

pytestmark = pytest.mark.usefixtures("x64")
X, W = normal(8, 4, 5), normal(5)
T_X, T_W = normal(8, 4, 5), normal(5)


def product(x, w):
    return x * w


def loss(scale):
    return lambda x, w: jnp.sin(scale(x, w)).sum()


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, jax.checkpoint], ids=["eager", "jit", "remat"])
def test_tangents_agree_with_jax_in_every_wrapping(t, wrap):
    close(jax.jvp(wrap(t.scale), (X, W), (T_X, T_W)), jax.jvp(product, (X, W), (T_X, T_W)))
    close(
        jax.jit(lambda x: jax.jvp(wrap(loss(t.scale)), (x, W), (T_X, T_W)))(X),
        jax.jvp(loss(product), (X, W), (T_X, T_W)),
    )


def test_check_grads(t):
    check_grads(t.scale, (X[0], W), 1, modes=["fwd", "rev"])
    check_grads(t.squared, (X[0],), 1, modes=["fwd", "rev"])


def test_a_tangent_that_is_zero(t):
    before = t.nones()
    close(jax.jvp(lambda x: t.scale(x, W), (X,), (T_X,)), jax.jvp(lambda x: x * W, (X,), (T_X,)))
    assert t.nones() == before + 1  # of an optional parameter: None
    close(jax.jvp(lambda w: t.scale(X, w), (W,), (T_W,)), jax.jvp(lambda w: X * w, (W,), (T_W,)))
    assert t.nones() == before + 1  # of the other: zeros


def test_jacobians_and_linearize(t):
    x = X[0, 0]
    close(jax.jacfwd(t.scale, (0, 1))(x, W), jax.jacfwd(product, (0, 1))(x, W))
    out, along = jax.linearize(t.scale, X, W)
    close(out, X * W)
    close(along(T_X, T_W), X * T_W + T_X * W)
    close(jax.vmap(along, (0, None))(jnp.stack([T_X, X]), T_W)[1], X * T_W + X * W)
    close(jax.linear_transpose(along, X, W)(X), jax.vjp(product, X, W)[1](X))


def test_second_order(t):
    x = X[0, :2]
    ours, theirs = loss(t.scale), loss(product)
    expected = jax.jit(jax.hessian(theirs, (0, 1)))(x, W)
    close(jax.jit(jax.hessian(ours, (0, 1)))(x, W), expected)
    close(jax.jit(jax.jacrev(jax.jacfwd(ours, (0, 1)), (0, 1)))(x, W), expected)  # the tangent function has a KP_GRAD
    close(jax.hessian(lambda x: (t.squared(x) ** 2).sum())(W), jnp.diag(12 * W * W))


def test_tangents_can_be_batched(t):
    def both(scale):
        return lambda x, w, t_x, t_w: jax.jvp(scale, (x, w), (t_x, t_w))

    weights = normal(8, 5)
    for axes in ((0, None, 0, None), (0, 0, 0, 0), (None, 0, None, 0), (0, None, None, None)):
        args = [
            many if axis == 0 else one
            for axis, many, one in zip(axes, (X, weights, T_X, weights), (X[0], W, T_X[0], T_W), strict=True)
        ]
        close(jax.vmap(both(t.scale), axes)(*args), jax.vmap(both(product), axes)(*args))
    close(jax.jvp(jax.vmap(t.scale, (0, None)), (X, W), (T_X, T_W)), jax.jvp(product, (X, W), (T_X, T_W)))


def test_lists_and_optional_arguments(t):
    xs, t_xs = [normal(2, 5), normal(3, 5)], [normal(2, 5), normal(3, 5)]

    def sums(xs, bias):
        return sum((x * x).sum(0) for x in xs) + bias

    close(jax.jvp(t.sums, (xs, W), (t_xs, T_W)), jax.jvp(sums, (xs, W), (t_xs, T_W)))
    one = lambda f: lambda x: f([xs[0], x], W)  # noqa: E731 - an item that stands still has zeros
    close(jax.jvp(one(t.sums), (xs[1],), (t_xs[1],)), jax.jvp(one(sums), (xs[1],), (t_xs[1],)))
    close(jax.jvp(lambda xs: t.sums(xs, None), (xs,), (t_xs,))[1], jax.jvp(sums, (xs, W), (t_xs, 0 * W))[1])


def test_whole_numbers_and_aux_results(t):
    (out, count), (t_out, t_count) = jax.jvp(lambda x: t.square(x, factor=3.0), (X,), (T_X,))
    close((out, t_out), (3 * X * X, 6 * X * T_X))
    assert count == X.size
    assert t_count.dtype == jax.dtypes.float0
    loop = lambda x: jax.lax.while_loop(lambda x: x.sum() < 100, lambda x: x + t.square(x)[0], x)  # noqa: E731
    theirs = lambda x: jax.lax.while_loop(lambda x: x.sum() < 100, lambda x: x + x * x, x)  # noqa: E731
    start = jnp.ones(3)
    close(jax.jacfwd(lambda x: t.square(x)[0])(W), jnp.diag(2 * W))
    close(jax.jvp(loop, (start,), (start,)), jax.jvp(theirs, (start,), (start,)))


def test_complex_tangents(t):
    z = X + 1j * X[::-1]
    close(jax.jvp(t.complex_square, (z,), (1j * z,)), jax.jvp(lambda z: z * z, (z,), (1j * z,)))


def test_tangents_go_through_scan(t):
    def last(scale):
        return lambda x: jax.lax.scan(lambda c, _: (scale(c, W), None), x, length=3)[0]

    close(jax.jvp(last(t.scale), (X,), (T_X,)), jax.jvp(last(product), (X,), (T_X,)))
    close(jax.grad(lambda x: last(t.scale)(x).sum())(X), jax.grad(lambda x: last(product)(x).sum())(X))


def test_under_disable_jit(t):
    with jax.disable_jit():
        close(jax.jvp(t.scale, (X, W), (T_X, T_W)), jax.jvp(product, (X, W), (T_X, T_W)))
        close(jax.jvp(lambda x: t.square(x)[0], (X,), (T_X,)), (X * X, 2 * X * T_X))


def test_on_many_devices(t, devices):
    expected = jax.jvp(product, (X, W), (T_X, T_W))
    auto = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
    split, whole = NamedSharding(auto, P("data")), NamedSharding(auto, P())
    args = jax.device_put(((X, W), (T_X, T_W)), ((split, whole), (split, whole)))
    compiled = jax.jit(lambda p, t_p: jax.jvp(t.scale, p, t_p)).lower(*args).compile()
    assert "all-gather" not in compiled.as_text()
    close(compiled(*args), expected)
    inside = lambda x, w, t_x, t_w: jax.jvp(t.scale, (x, w), (t_x, t_w))  # noqa: E731
    specs = {"in_specs": (P("data"), P(), P("data"), P()), "out_specs": (P("data"), P("data"))}
    close(jax.jit(shard_map(inside, mesh=auto, **specs))(X, W, T_X, T_W), expected)
    explicit = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Explicit,))
    with using(explicit):
        split, whole = NamedSharding(explicit, P("data")), NamedSharding(explicit, P())
        given = jax.device_put((X, W, T_X, T_W), (split, whole, split, whole))
        out, tangent = jax.jit(inside)(*given)
        assert tangent.sharding.is_equivalent_to(split, 3)
        close((np.asarray(out), np.asarray(tangent)), expected)


SCALE_HAS_NONE = (
    r"scale: cannot be differentiated in forward mode \(jax.jvp, jax.jacfwd, jax.hessian\): its module declares no "
    r"KP_JVP\(scale, <its tangent function>\); declare one, or use reverse mode \(jax.grad, jax.jacrev\)"
)


@pytest.mark.parametrize(
    "forward",
    [
        lambda f: jax.jvp(f, (X,), (X,)),
        lambda f: jax.jit(lambda x: jax.jvp(f, (x,), (x,)))(X),
        lambda f: jax.jacfwd(f)(X[0]),
        lambda f: jax.linearize(f, X)[1](X),
        lambda f: jax.vmap(lambda x: jax.jvp(f, (x,), (x,)))(X),
        lambda f: jax.hessian(lambda x: (f(x) ** 2).sum())(X[0, 0]),
    ],
    ids=["jvp", "jit", "jacfwd", "linearize", "vmap", "hessian"],
)
def test_no_tangent_declared(g, forward):
    with pytest.raises(TypeError, match=SCALE_HAS_NONE):
        forward(lambda x: g.scale(x, W))
    with jax.disable_jit(), pytest.raises(TypeError, match=SCALE_HAS_NONE):
        forward(lambda x: g.scale(x, W))


def test_no_tangent_declared_of_the_backward_function(t):
    """The second order by forward over reverse differentiates it."""
    words = (
        r"cubed_backward: x: cannot be differentiated: the function has no gradient; declare one with KP_GRAD\(cubed_backward, "
        r"<its backward function>\), for forward mode with KP_JVP\(cubed_backward, <its tangent function>\), or use jax.lax."
    )
    with pytest.raises(TypeError, match=words):
        jax.hessian(lambda x: t.cubed(x).sum())(W)


def test_neither_declared(g):
    with pytest.raises(
        TypeError, match="plain: x: cannot be differentiated: the function has no gradient; declare one with"
    ):
        jax.jvp(g.plain, (W,), (W,))


def test_no_gradient_declared_beside_a_tangent(t):
    words = r"sums: cannot be differentiated in reverse mode \(jax.grad, jax.vjp, jax.jacrev\): its module declares no KP_GRAD\(sums"
    with pytest.raises(TypeError, match=words):
        jax.grad(lambda x: t.sums([x], W).sum())(X[0])


def test_a_tangent_that_an_aux_result_lacks(t):
    """The second order reads it."""
    words = "square: twice: cannot be differentiated in forward mode: square_jvp gives no t_twice; add it"
    with pytest.raises(TypeError, match=words):
        jax.hessian(lambda x: t.square(x)[0].sum())(W)
