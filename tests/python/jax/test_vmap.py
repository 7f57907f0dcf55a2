"""jax.vmap: one more batch dim where the contract has them, one call an item elsewhere; with and without gradients."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from wide import close, normal

pytestmark = pytest.mark.usefixtures("x64")
X, W = normal(3, 4, 5), normal(3, 5)


def calls(function, *args):
    """The shapes of each kernel call's operands, loops included."""
    found = []

    def visit(jaxpr):
        for equation in jaxpr.eqns:
            if equation.primitive.name.startswith("jax_gradients."):
                found.append(tuple(variable.aval.shape for variable in equation.invars))
            for value in equation.params.values():
                inner = getattr(value, "jaxpr", value)
                if hasattr(inner, "eqns"):
                    visit(inner)

    visit(jax.make_jaxpr(function)(*args).jaxpr)
    return found


def test_batch_dims_are_widened(g):
    mapped = jax.vmap(g.scale, (0, None))
    close(mapped(X, W[0]), X * W[0])
    assert calls(mapped, X, W[0]) == [((3, 4, 5), (5,))]


@pytest.mark.parametrize("in_axes", [(0, 0), (1, 0), (2, 1), (None, 0), (0, None)])
def test_in_axes(g, in_axes):
    def operand(value, axis):
        return value[0] if axis is None else jnp.moveaxis(value, 0, axis)

    args = [operand(value, axis) for value, axis in zip((X, W), in_axes, strict=True)]
    close(jax.vmap(g.scale, in_axes)(*args), jax.vmap(lambda x, w: x * w, in_axes)(*args))


def test_one_call_an_item_where_the_contract_has_no_batch_dims(g):
    mapped = jax.vmap(g.scale)
    close(mapped(X, W), X * W[:, None])
    assert calls(mapped, X, W) == [((4, 5), (5,))]  # once, inside the loop
    close(jax.vmap(jax.vmap(g.plain))(X), X)
    close(jax.vmap(g.row_sums)(X), X.sum(1))


def test_an_unbatched_operand_is_not_materialised_where_the_kernel_broadcasts(g):
    mask = normal(4, 5)
    mapped = jax.vmap(lambda x: g.mixed(x, mask, []))
    close(mapped(X), X + mask)
    assert calls(mapped, X) == [((3, 4, 5), (1, 4, 5))]
    masks = normal(3, 1, 5)
    both = jax.vmap(lambda x, m: g.mixed(x, m, [W[0]]))
    close(both(X, masks), X + masks + W[0])
    assert calls(both, X, masks) == [((3, 4, 5), (3, 1, 5), (5,))]
    close(jax.vmap(lambda m: g.mixed(X[0], m, []))(masks), X[0] + masks)


def test_vmap_of_vmap_batches_twice(g):
    nested = jax.vmap(jax.vmap(g.scale, (0, None)), (0, 0))
    close(nested(X, W), X * W[:, None])
    close(jax.vmap(jax.vmap(g.times))(X, X), X * X)


def test_grad_of_vmap_and_vmap_of_grad(g):
    def loss(scale):
        return lambda x, w: jnp.sin(scale(x, w)).sum()

    ours, theirs = loss(g.scale), loss(lambda x, w: x * w)
    for axes in ((0, None), (0, 0), (None, 0)):
        args = [value if axis == 0 else value[0] for value, axis in zip((X, W), axes, strict=True)]
        close(jax.vmap(jax.grad(ours, (0, 1)), axes)(*args), jax.vmap(jax.grad(theirs, (0, 1)), axes)(*args))
        of_ours = jax.grad(lambda *a, axes=axes: jax.vmap(ours, axes)(*a).sum(), (0, 1))
        of_theirs = jax.grad(lambda *a, axes=axes: jax.vmap(theirs, axes)(*a).sum(), (0, 1))
        close(of_ours(*args), of_theirs(*args))
        close(jax.jit(of_ours)(*args), of_theirs(*args))


def test_jacobian_by_rows(g):
    close(jax.jacrev(lambda x: g.scale(x, W[0]))(X[0]), jax.jacrev(lambda x: x * W[0])(X[0]))


def test_mutated_parameter(k):
    cache, x = jnp.zeros((2, 3), jnp.float32), jnp.ones((2, 3), jnp.float32)
    close(jax.jit(jax.vmap(k.accumulate))(cache, x), x)
    close(cache, jnp.zeros((2, 3)))


def test_empty_batch(g):
    assert jax.vmap(g.scale)(X[:0], W[:0]).shape == (0, 4, 5)
    assert jax.vmap(g.plain)(W[:0]).shape == (0, 5)
