"""Random float64 arrays, whatever JAX's 64-bit setting is while the tests are collected."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

_RNG = np.random.default_rng(0)


def normal(*shape: int) -> jax.Array:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        return jnp.asarray(_RNG.normal(size=shape))
    finally:
        jax.config.update("jax_enable_x64", before)


def close(got: object, expected: object, tolerance: float = 1e-12) -> None:
    """Two trees of arrays are equal but for rounding."""
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance), got, expected)
