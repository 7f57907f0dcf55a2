"""torch.ops' own call, made as quick as the direct one: torch keeps no promise of where it is taken from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kernpack._private import is_private_allowed


class _Packet(torch._ops.OpOverloadPacket):
    """`torch.ops.<namespace>.<name>` itself: goes to `default`, which is quick, unless a keyword may choose another overload."""

    __module__ = torch._ops.OpOverloadPacket.__module__  # torch tells its operators by it

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs) if kwargs else self.default(*args)


def dispatch(op: Any) -> Callable[..., Any]:
    """The call of an operator that goes to the dispatcher, whatever `shorten` may make of the operator itself."""
    return op._op if is_private_allowed("torch.operators") else op


def shorten(op: Any, direct: Callable[..., Any]) -> None:
    """Has the operator call `direct`, which goes to the dispatcher itself for all that torch must see. Where torch doesn't take `_op`
    from the object any more, nothing changes."""
    if is_private_allowed("torch.operators"):
        op._op = direct
        op.overloadpacket.__class__ = _Packet
