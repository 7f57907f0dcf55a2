"""XLA's CPU threads take subnormal floats for zero. Kernels compute with them, as they do in every other framework."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_a_kernel_computes_with_subnormal_floats(k, wrap):
    x = np.array([1e-40, -3e-39, 1.4e-45, 1.2e-38], np.float32)
    np.testing.assert_array_equal(np.asarray(wrap(lambda x: k.axpb(x, a=1, b=0.0))(jnp.asarray(x))), x)


def test_on_all_of_xlas_threads(k):
    x = np.full(1 << 18, 6e-39, np.float32)
    for _ in range(5):
        np.testing.assert_array_equal(np.asarray(k.halved(jnp.asarray(x))), x / 2)


def test_every_half(k):
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    np.testing.assert_array_equal(np.asarray(k.widened(jnp.asarray(x))), x.astype(np.float32))


def test_jax_computes_as_before(k):
    x = jnp.full(4, 1e-40, jnp.float32)

    def own(x: jax.Array) -> bytes:
        return np.asarray(x * np.float32(0.5)).tobytes()

    before = own(x)
    k.axpb(x, a=1, b=0.0).block_until_ready()
    assert own(x) == before
    around = jax.jit(lambda x: k.axpb(x * np.float32(0.5), a=1, b=0.0) * np.float32(4))
    assert np.asarray(around(x)).tobytes() == np.asarray(jax.jit(lambda x: (x * 0.5) * 4)(x)).tobytes()
