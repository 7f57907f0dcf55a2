"""For how many devices a program is lowered: JAX says so only for primitives of a private set, in which custom_partitioning's is."""

from __future__ import annotations

import functools
from typing import Any

import jax

from kernpack._private import is_private_allowed, private_found, private_not_found


@functools.cache
def may_be_split() -> bool:
    """Whether calls can be split over the devices of a mesh; else XLA gathers their operands, and each device calls the kernel on all."""
    if not is_private_allowed("jax.devices"):
        return False
    (private_not_found if _primitives() is None else private_found)("jax.devices")
    return _primitives() is not None


def require(primitive: Any) -> None:
    """Makes JAX say, when it lowers the primitive, for which devices it does; where there is one it isn't asked."""
    if jax.device_count() > 1 and may_be_split():
        _primitives().add(primitive)


@functools.cache
def _primitives() -> Any:
    """JAX's set of such primitives: one that custom_partitioning's own is in. None where this JAX has no such set."""
    try:
        from jax._src import custom_partitioning, dispatch

        found = dispatch.prim_requires_devices_during_lowering
        return found if isinstance(found, set) and custom_partitioning.custom_partitioning_p in found else None
    except (ImportError, AttributeError):
        return None
