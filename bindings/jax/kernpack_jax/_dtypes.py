"""NumPy's dtypes, as JAX uses them, and contracts' names of them."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from kernpack import DType
from kernpack._core import dtype_word

# Dtypes that JAX narrows while 64-bit types are off, silently for results.
NEEDS_X64 = frozenset(np.dtype(name) for name in ("int64", "uint64", "float64", "complex128"))


@functools.cache
def to_name(dtype: np.dtype) -> str | None:
    """The contract's name; None for what isn't a number: JAX's keys and tokens."""
    try:
        return DType(dtype).name
    except (TypeError, ValueError):
        return None


def of_jax(where: str, dtype: Any) -> str:
    """The contract's name of an array's dtype; a TypeError for JAX's keys and tokens."""
    name = to_name(dtype) if isinstance(dtype, np.dtype) else None
    if name is None:
        is_key = jnp.issubdtype(dtype, jax.dtypes.prng_key)
        advice = "pass jax.random.key_data(x)" if is_key else "convert it with .astype()"
        raise TypeError(f"{where}: expected a dtype that contracts can name, got {dtype}: {advice}")
    return name


@functools.cache
def from_name(name: str) -> np.dtype | None:
    """The dtype that JAX has for a contract's name ("bf16"), if it has one."""
    found = getattr(jnp, "bool_" if name == "bool" else dtype_word(name), None)
    return None if found is None else np.dtype(found)


def of_result(where: str, name: str) -> np.dtype:
    """As from_name; a TypeError where this JAX has none."""
    dtype = from_name(name)
    if dtype is not None and (dtype not in NEEDS_X64 or jax.config.jax_enable_x64):  # type: ignore[attr-defined]
        return dtype
    advice = "this JAX has no such dtype"
    if dtype is not None:
        advice = "JAX's 64-bit types are off; jax.config.update('jax_enable_x64', True) turns them on"
    raise TypeError(f"{where} is {name}: {advice}")
