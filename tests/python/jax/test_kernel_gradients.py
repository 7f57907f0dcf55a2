"""The first-party kernels' gradients under JAX, in float64, by finite differences; and each op under each transformation."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads
from wide import close, normal

pytestmark = pytest.mark.usefixtures("x64")

X, W, B = normal(2, 3, 8), normal(8), normal(8)
MASK = np.array([[[True] * 5 + [False] * 3] * 3])
TOKENS = np.array([[1, 1, 0], [1, 1, 1]], np.int32)

# Each op as a function of what it is differentiated by.
OPS = {
    "layer_norm": (lambda k, x, w, b: k.layer_norm(x, w, b, eps=1e-3), (X, W, B)),
    "rms_norm": (lambda k, x, w: k.rms_norm(x, w, eps=1e-3), (X, W)),
    "gelu": (lambda k, x: k.gelu(x), (X,)),
    "gelu_tanh": (lambda k, x: k.gelu(x, approximate="tanh"), (X,)),
    "softmax": (lambda k, x: k.softmax(x), (X,)),
    "masked_softmax": (lambda k, x: k.softmax(x, jnp.asarray(MASK)), (X,)),
    "biased_softmax": (lambda k, x, m: k.softmax(x, m), (X, normal(1, 3, 8))),
    "mean_pool": (lambda k, x: k.mean_pool(x, jnp.asarray(TOKENS)), (X,)),
    "l2_normalize": (lambda k, x: k.l2_normalize(x), (X,)),
    "cumsum": (lambda k, x: k.cumsum(x, reverse=True), (X,)),
    "segment_sum": (lambda k, x: k.segment_sum(x, jnp.asarray([0, 2, 2], jnp.int32)), (X[0],)),
    "softmax_columns": (lambda k, x: k.softmax_columns(x), (X,)),
    "scatter_sum": (lambda k, x: k.scatter_sum(x, jnp.asarray([2, 0, 2], jnp.int32), rows=4), (X[0],)),
    "embedding": (lambda k, t: k.embedding(t, jnp.asarray([[0, 2], [2, 1]], jnp.int32)), (X[0],)),
}


@pytest.fixture(scope="module")
def kernels():
    import kernpack

    return kernpack.load("kernpack_kernels")


@pytest.fixture(params=list(OPS))
def op(request, kernels):
    function, args = OPS[request.param]
    return lambda *a: function(kernels, *a), args


def test_check_grads(op):
    function, args = op
    check_grads(function, args, 2, modes=["rev"], eps=1e-5)
    check_grads(function, args, 1, modes=["fwd"], eps=1e-5)


def test_forward_over_reverse_is_reverse_over_reverse(op):
    """Forward mode over reverse mode agrees with reverse mode over reverse mode."""
    function, args = op

    def loss(x):
        return (function(x, *args[1:]) ** 2).sum()

    close(jax.hessian(loss)(args[0]), jax.jacrev(jax.jacrev(loss))(args[0]), 1e-9)


def test_transformations_agree(op):
    function, args = op

    def loss(*a):
        return (function(*a) ** 2).sum()

    indices = tuple(range(len(args)))
    expected = jax.grad(loss, indices)(*args)
    close(jax.jit(jax.grad(loss, indices))(*args), expected)
    close(jax.grad(jax.checkpoint(loss), indices)(*args), expected)
    twice = [jnp.stack([a, 2 * a]) for a in args]
    mapped = jax.vmap(jax.grad(loss, indices))(*twice)
    close([m[0] for m in mapped], list(expected), 1e-9)
    close([m[1] for m in mapped], list(jax.grad(loss, indices)(*(2 * a for a in args))), 1e-9)
