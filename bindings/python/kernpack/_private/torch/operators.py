"""The attribute from which torch.ops takes an operator's call: torch keeps no promise of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernpack._private import is_private_allowed, private_found, private_not_found


def dispatch(op: Any) -> Callable[..., Any]:
    """The call of an operator that goes to the dispatcher, without the Python function in front of it if this torch allows that."""
    return op._op if is_private_allowed("torch.operators") and _is_taken(op) else op


def _is_taken(op: Any) -> bool:
    """True if torch takes an operator's call from `_op`. Tried on the first operator that is passed."""
    return _answer(op) if _found is None else _found


_found: bool | None = None


def _answer(op: Any) -> bool:
    global _found
    seen, theirs = object(), getattr(op, "_op", None)
    try:
        op._op = lambda *args, **kwargs: (seen, args, kwargs)
        _found = op(1, a=2) == (seen, (1,), {"a": 2})
    except Exception:  # a torch that computes something else of these arguments
        _found = False
    finally:
        if theirs is not None:
            op._op = theirs
    (private_found if _found else private_not_found)("torch.operators")
    return _found
