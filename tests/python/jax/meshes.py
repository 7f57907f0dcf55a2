"""jax.shard_map and jax.set_mesh, under the names that the JAX at hand has for them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import jax


def shard_map(function, *, mesh, in_specs, out_specs, check_vma: bool = True, axis_names: set[str] | None = None):
    """jax.shard_map, experimental before JAX 0.6.1."""
    specs = {"mesh": mesh, "in_specs": in_specs, "out_specs": out_specs}
    if hasattr(jax, "shard_map"):
        return jax.shard_map(function, check_vma=check_vma, axis_names=axis_names or set(mesh.axis_names), **specs)
    from jax.experimental.shard_map import shard_map as experimental

    auto = frozenset(mesh.axis_names) - frozenset(axis_names or mesh.axis_names)
    return experimental(function, check_rep=check_vma, auto=auto, **specs)


def using(mesh: Any) -> AbstractContextManager[Any]:
    """jax.set_mesh, whose name was jax.sharding.use_mesh."""
    return jax.set_mesh(mesh) if hasattr(jax, "set_mesh") else jax.sharding.use_mesh(mesh)
