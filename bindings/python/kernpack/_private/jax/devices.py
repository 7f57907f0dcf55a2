"""For how many devices a program is lowered: JAX says so only for primitives of a private set, in which custom_partitioning's is."""

from __future__ import annotations

import functools
from typing import Any

import jax

from kernpack._private import is_private_allowed, private_not_found


@functools.cache
def may_be_split() -> bool:
    """Whether calls can be split over the devices of a mesh; else XLA gathers their operands, and each device calls the kernel on all."""
    return is_private_allowed("jax.devices") and _primitives() is not None


def require(primitive: Any) -> None:
    """Makes JAX say, when it lowers the primitive, for which devices it does; where there is one it isn't asked."""
    if jax.device_count() > 1 and may_be_split():
        _primitives().add(primitive)


def _primitives() -> Any:
    try:
        from jax._src import dispatch  # custom_partitioning itself has no other way

        return dispatch.prim_requires_devices_during_lowering
    except (ImportError, AttributeError):
        private_not_found("jax.devices")
        return None
