"""torch.ops' own call, made as quick as the direct one: torch keeps no promise of where it is taken from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kernpack._private import is_private_allowed, private_found, private_not_found


class _Packet(torch._ops.OpOverloadPacket):
    """`torch.ops.<namespace>.<name>` itself: goes to `default`, which is quick, unless a keyword may choose another overload."""

    __module__ = torch._ops.OpOverloadPacket.__module__  # torch tells its operators by it

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs) if kwargs else self.default(*args)


def dispatch(op: Any) -> Callable[..., Any]:
    """The call of an operator that goes to the dispatcher, whatever `shorten` may make of the operator itself."""
    return op._op if is_private_allowed("torch.operators") and _is_taken(op) else op


def shorten(op: Any, direct: Callable[..., Any]) -> bool:
    """Has the operator call `direct`, which goes to the dispatcher itself for everything that torch must see. False if this torch doesn't
    allow that."""
    if not is_private_allowed("torch.operators") or not _is_taken(op):
        return False
    op._op = direct
    op.overloadpacket.__class__ = _Packet
    return True


def _is_taken(op: Any) -> bool:
    """True if torch takes an operator's call from `_op`. Tried on the first operator that is passed."""
    return _answer(op) if _found is None else _found


_found: bool | None = None


def _answer(op: Any) -> bool:
    global _found
    packet, seen = op.overloadpacket, object()
    theirs, kind = getattr(op, "_op", None), type(packet)
    try:
        op._op = lambda *args, **kwargs: (seen, args, kwargs)
        packet.__class__ = _Packet
        _found = op(1, a=2) == (seen, (1,), {"a": 2}) and packet(3) == (seen, (3,), {})
    except Exception:  # a torch that computes something else of these arguments
        _found = False
    finally:
        packet.__class__ = kind
        if theirs is not None:
            op._op = theirs
    (private_found if _found else private_not_found)("torch.operators")
    return _found
