"""A value given the type that JAX expects of it."""

from __future__ import annotations

from typing import Any

from . import _sharding, _varying


def as_type(value: Any, kind: Any) -> Any:
    """The value with the dtype, the varying axes and the explicit sharding of `kind`."""
    found = _varying.like(value.astype(kind.dtype), kind)
    sharding = getattr(kind, "sharding", None)
    return found if sharding is None or not any(sharding.spec) else _sharding.reshard(found, sharding)
