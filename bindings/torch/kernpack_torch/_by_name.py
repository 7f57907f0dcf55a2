"""Operators that are called by their name, `torch.ops.<namespace>.<name>`: the objects that torch finds get classes with calls of ours. For
all else they are torch's own objects, with torch's own classes as bases."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from kernpack import _core
from kernpack._private.torch import operators

from ._binder import in_schema


def dispatch(op: Any) -> Callable[..., Any]:
    """The call of an operator that goes to the dispatcher, whatever its call by name does."""
    found = operators.dispatch(op)
    return _whole(op) if found is op else found


def enter(function: Any, is_shortened: bool) -> None:
    """For a function whose operator takes the same arguments: its calls, and those of the operator by name, go past the kernel at the
    Autograd key if autograd has nothing to do. is_shortened: the operator's call by name is the function's."""
    call = _core.torch_operator(function.info, function.dispatch)
    if is_shortened:
        return
    results = frozenset(in_schema(result.name) for result in function.contract.results)
    packet, whole = function.op.overloadpacket, _whole(function.op.overloadpacket)

    def call_packet(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return call(*args, **kwargs) if results.isdisjoint(kwargs) else whole(*args, **kwargs)

    _take_over(function.op, call)
    _take_over(packet, call_packet)


def _whole(op: Any) -> Callable[..., Any]:
    """torch's own call of an operator or of a packet of them."""
    kind = type(op)
    return types.MethodType(vars(kind).get("KP_whole", kind.__call__), op)


def _take_over(op: Any, call: Callable[..., Any]) -> None:
    """Puts `call` into the object's class. If it's a Python function, it gets the object first."""
    base = type(op)
    members = {"__slots__": (), "__module__": base.__module__, "__call__": call, "KP_whole": base.__call__}
    op.__class__ = type(base.__name__, (base,), members)
