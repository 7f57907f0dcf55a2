"""Arrays whose elements are less than a byte: JAX packs them, as kernels expect, and NumPy keeps one per byte."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from support.refusal import CONVERT

# As contracts name those that this JAX can compute with.
SMALL = {"int2": "i2", "uint2": "u2", "int4": "i4", "uint4": "u4", "float4_e2m1fn": "f4_e2m1fn"}
SMALL = {word: name for word, name in SMALL.items() if hasattr(jnp, word)}
JAX_CALLS = {
    "eagerly": lambda f, x: f(jnp.asarray(x)),
    "traced": lambda f, x: jax.jit(f)(jnp.asarray(x)),
    "traced from NumPy's array": lambda f, x: jax.jit(f)(x),
    "described": lambda f, x: jax.eval_shape(f, jax.ShapeDtypeStruct(x.shape, x.dtype)),
    "lowered": lambda f, x: jax.jit(f).lower(jnp.asarray(x)),
    "batched": lambda f, x: jax.vmap(f)(jnp.asarray(x)),
}


def zeros(word: str) -> np.ndarray:
    return np.zeros(4, getattr(ml_dtypes, word))


@pytest.mark.parametrize("word", SMALL)
@pytest.mark.parametrize("call", JAX_CALLS)
def test_a_small_dtype_that_the_contract_lacks_is_refused_alike(k, word, call):
    with pytest.raises(TypeError) as caught:
        JAX_CALLS[call](k.axpb, zeros(word))
    assert str(caught.value) == f"axpb: x: expected dtype f32, got {SMALL[word]}{CONVERT}"


@pytest.mark.parametrize("word", SMALL)
@pytest.mark.parametrize("function", ["axpb", "copy"])
def test_numpys_arrays_of_small_dtypes_are_refused(k, word, function):
    """Whatever the contract takes: kernels would read several elements from each byte."""
    why = f"x: expected an array whose elements are whole bytes (convert it with .astype()), got {word}[4]"
    with pytest.raises(TypeError, match=rf"^{function}: {re.escape(why)}$"):
        getattr(k, function)(zeros(word))


@pytest.mark.skipif(not hasattr(ml_dtypes, "int1"), reason="this ml_dtypes has no int1")
def test_a_dtype_that_contracts_cannot_name_is_refused(k):
    x = np.zeros(4, ml_dtypes.int1)
    with pytest.raises(TypeError, match=r"^copy: x: expected an array of bools, .*\.astype\(\)\), got int1\[4\]$"):
        k.copy(x)
    if not hasattr(jnp, "int1"):
        return
    with pytest.raises(TypeError, match=r"^copy: x: expected a dtype that contracts can name, got int1: convert it"):
        jax.eval_shape(k.copy, jax.ShapeDtypeStruct(x.shape, x.dtype))
