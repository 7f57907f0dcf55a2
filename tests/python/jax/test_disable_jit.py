"""jax.disable_jit: every call runs by itself, and gives what it gives under jit."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from wide import close, normal

pytestmark = pytest.mark.usefixtures("x64")
X, W = normal(3, 4, 5), normal(5)


@pytest.fixture(autouse=True)
def no_jit():
    with jax.disable_jit():
        yield


def test_calls_and_refusals_are_the_same_without_jit(k, g):
    for _ in range(2):  # the second is one that was made before
        close(g.scale(X, W), X * W)
        positive, count = k.two_results(jnp.array([1.0, -1.0], jnp.float32))
        assert (positive.tolist(), int(count)) == ([1.0, 0.0], 1)
    close(jax.jit(g.scale)(X, W), X * W)
    with pytest.raises(ValueError, match=r"^positive: x: expected no negative item, got one at 0$"):
        k.positive(jnp.array([-1.0], jnp.float32))


def test_gradients_are_the_same_without_jit(g):
    got = jax.grad(lambda x, w: jnp.sin(g.scale(x, w)).sum(), (0, 1))(X, W)
    close(got, jax.grad(lambda x, w: jnp.sin(x * w).sum(), (0, 1))(X, W))
    close(jax.grad(jax.grad(lambda x: g.times(g.times(x, x), x)))(W[0]), 6 * W[0])


def test_vmap_is_the_same_without_jit(g):
    close(jax.vmap(g.scale)(X, normal(3, 5) * 0 + W), X * W)  # in a loop
    close(jax.vmap(g.scale, (0, None))(X, W), X * W)
    assert jax.vmap(g.plain)(jnp.zeros((0, 5))).shape == (0, 5)
    close(jax.vmap(jax.grad(lambda x: g.scale(x, W).sum()))(X), jnp.ones_like(X) * W)


def test_scan_is_the_same_without_jit(g):
    close(jax.lax.scan(lambda x, _: (g.scale(x, W), None), X, length=2)[0], X * W * W)


def test_parameters_written_in_place(k):
    cache, x = jnp.ones(3, jnp.float32), jnp.full((3,), 5.0, jnp.float32)
    for _ in range(2):
        np.testing.assert_array_equal(jax.jit(k.accumulate)(cache, x), [6, 6, 6])
        np.testing.assert_array_equal(cache, [1, 1, 1])
    with jax.disable_jit(False), pytest.raises(TypeError, match="accumulate: cache: is written in place"):
        k.accumulate(cache, x)
