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
    return whole_call(op) if found is op else found


def enter(function: Any, may_be_direct: bool) -> None:
    """For a function whose operator takes the same arguments: the operator's call by name becomes the function's direct call, which goes to
    the dispatcher itself for everything that torch must see. If that isn't allowed, or nothing tells what torch must see, the call
    goes to the dispatcher, but past the kernel at the Autograd key if autograd has nothing to do."""
    # Without watchers, the direct call would not be told of levels of forward mode that compiled programs open.
    is_direct = may_be_direct and _core.use_torch_hook("torch.watchers", None)
    if any(param.is_tensor for param in function.contract.parameters):
        call = _core.torch_operator(function.info, function.dispatch)
    elif not is_direct:
        return
    if is_direct:
        call = function.info.callable
    others = frozenset(["out", *(in_schema(result.name) for result in function.contract.results)])
    packet, whole = function.op.overloadpacket, whole_call(function.op.overloadpacket)

    def call_packet(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return call(*args, **kwargs) if others.isdisjoint(kwargs) else whole(*args, **kwargs)

    _take_over(function.op, call)
    _take_over(packet, call_packet)


def whole_call(op: Any) -> Callable[..., Any]:
    """torch's own call of an operator or of a packet of them."""
    kind = type(op)
    return types.MethodType(vars(kind).get("KP_whole", kind.__call__), op)


def _take_over(op: Any, call: Callable[..., Any]) -> None:
    """Puts `call` into the object's class. If it's a Python function, it gets the object first."""
    base = type(op)
    members = {"__slots__": (), "__module__": base.__module__, "__call__": call, "KP_whole": base.__call__}
    op.__class__ = type(base.__name__, (base,), members)
