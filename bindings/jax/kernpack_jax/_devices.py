"""For which devices a program is lowered.

JAX says so only if the program has a primitive that must know it, as custom_partitioning's. JAX looks for such primitives also in
the programs that other primitives have as parameters, as those of loops. So each call has a program as a parameter that consists of
one custom_partitioning, and never runs.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
from jax.experimental.custom_partitioning import custom_partitioning


class _Needs(tuple):
    """The parameter. Printed as it is, it would be a dozen lines in every jaxpr."""

    def __repr__(self) -> str:
        return "devices"


def needed() -> dict[str, Any]:
    """Parameters for a primitive whose call may be split over devices; none in a process that has one device."""
    return {"needs": _program()} if jax.device_count() > 1 else {}


def are_known(axis_context: Any) -> bool:
    """True if JAX has told for which devices it lowers."""
    return getattr(axis_context, "device_assignment", axis_context) is not None


@functools.cache
def _program() -> _Needs:
    nothing = custom_partitioning(lambda x: x)
    nothing.def_partition(partition=None)
    return _Needs([jax.make_jaxpr(nothing)(jax.ShapeDtypeStruct((), bool))])
