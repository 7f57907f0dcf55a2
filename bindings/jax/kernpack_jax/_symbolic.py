"""jax.export's symbolic dims, where comparisons may have no answer before the program runs."""

from __future__ import annotations

from typing import Any

import jax
from kernpack._domain import RELATIONS, Domain


class _Symbols(Domain):
    """A condition that certainly fails is an error; all others are checked when the program runs."""

    def same(self, a: Any, b: Any) -> bool:
        if isinstance(a, int) and isinstance(b, int):
            return a == b
        return not _certainly(">=", a - b, 1) and not _certainly(">=", b - a, 1)

    def same_or_one(self, size: Any, wanted: Any) -> bool:
        return self.same(size, 1) or self.same(size, wanted)

    def holds(self, relation: str, a: Any, b: Any) -> bool:
        return self.same(a, b) if relation == "==" else not _certainly(_OPPOSITE[relation], a, b)

    def minimum(self, a: Any, b: Any) -> Any:
        return jax.core.min_dim(a, b)

    def maximum(self, a: Any, b: Any) -> Any:
        return jax.core.max_dim(a, b)


SYMBOLS = _Symbols()
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "!=": "=="}


def _certainly(relation: str, a: Any, b: Any) -> bool:
    """True if the relation holds for all values of the symbols. (JAX calls dims unequal if it doesn't know that they are equal.)"""
    try:
        return bool(RELATIONS[relation](a, b))
    except Exception:  # jax's InconclusiveDimensionOperation, whose home has moved
        return False
