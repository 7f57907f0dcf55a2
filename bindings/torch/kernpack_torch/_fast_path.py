"""The shortest way of a call that torch must see: a few statements before all that a function's usual call does.

`_core.torch_way` says which way that is. BELOW is for calls without hooks (docs/private.md): the operator is called as any
other, below autograd, so that everything that watches operators sees it, and the kernel at the Autograd key, which is written in Python,
doesn't run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from kernpack import _core
from kernpack._contract import Contract
from kernpack._private.torch import names
from torch.autograd import forward_ad
from torch.autograd.graph import increment_version
from torch.overrides import has_torch_function_unary

from . import _refusals
from ._autograd import requires_grad
from ._binder import arguments, in_schema, indent, is_simple

# The results of _core.torch_way.
ASK, BELOW, RECORD = range(3)

# Below autograd and what counts writes, which is done here. Making a guard costs more than entering it, so they are used again: one that
# is in use isn't in the list.
_CALL = """\
try:
    KP_guard = KP_guards.pop()
except IndexError:
    KP_guard = KP_Below()
try:
    with KP_guard:{count}
        KP_got = {call}
except RuntimeError as KP_error:
    KP_raise_as_kernel_did(KP_error)
    raise
KP_guards.append(KP_guard)
return {picked}
"""

_guards: list[Any] = []

_RECORD = """\
if KP_way == 2{allowed}:
    return KP_apply({values})
"""


def look() -> None:
    """Hands over what torch_way asks where the hooks don't tell."""
    _core.torch_ask_by(has_torch_function_unary, names.are_transforms_active, forward_ad.unpack_dual, _traces)
    if names.open_level is not None and names.close_level is not None:
        _core.torch_levels_by(names.open_level, names.close_level)
    _core.torch_below_by(names.BelowCounting, _refusals.raise_as_kernel_did, torch.jit.is_tracing)


def _traces() -> bool:
    """True if a tracer, or autocast, must see an operator before autograd sees it."""
    return torch.jit.is_tracing() or torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")


def shortcut(function: Any, node: Callable[..., Any] | None) -> tuple[str, dict[str, Any]]:
    """Statements for `_binder.bind`, and the names in them; none for a function whose arguments must be changed for torch first. node:
    what records a call, if autograd is all that follows it."""
    contract = function.contract
    tensors = [param.name for param in contract.parameters if param.is_tensor]
    if not is_simple(contract) or not tensors:
        return "", {}
    text = _without_destination(contract, tensors, node is not None)
    if contract.takes_destinations:
        text = f"if out is None:\n{indent(text)}\n"
        if len(contract.results) == 1 and contract.returned:
            text += f"elif KP_ask({', '.join([*tensors, 'out'])}) == 1:\n{indent(_with_destination(contract))}\n"
    return text, {
        "KP_ask": _core.torch_way,
        "KP_Below": names.BelowCounting,
        "KP_guards": _guards,
        "KP_count": increment_version,
        "KP_op": function.dispatch,
        "KP_out": function.dispatch_out,
        "KP_raise_as_kernel_did": _refusals.raise_as_kernel_did,
        "KP_apply": node,
    }


def _without_destination(contract: Contract, tensors: Sequence[str], has_node: bool) -> str:
    values = [param.name for param in contract.parameters]
    call = f"KP_op({arguments(contract, values, in_schema)})"
    below = _call(_written(contract), call, _picked(contract))
    text = f"KP_way = KP_ask({', '.join(tensors)})\nif KP_way == 1:\n{indent(below)}\n"
    if not has_node:
        return text
    stops = [requires_grad(p, p.name) for p in contract.parameters if p.is_tensor and p.name in contract.nondiff]
    allowed = f" and not ({' or '.join(stops)})" if stops else ""
    return text + _RECORD.format(allowed=allowed, values=", ".join(values))


def _with_destination(contract: Contract) -> str:
    given = arguments(contract, [param.name for param in contract.parameters], in_schema)
    call = f"KP_out({given}, {in_schema(contract.results[0].name)}=out)"
    return _call([*_written(contract), "out"], call, "out")


def _call(written: Sequence[str], call: str, picked: str) -> str:
    count = f"\n        KP_count(({', '.join(written)},))" if written else ""
    return _CALL.format(count=count, call=call, picked=picked)


def _written(contract: Contract) -> list[str]:
    """Items of a tuple: what the call writes to."""
    return [
        f"*(() if {param.name} is None else ({param.name},))" if param.optional else param.name
        for param in contract.parameters
        if param.mutated
    ]


def _picked(contract: Contract) -> str:
    """An expression: what the caller sees of what the operator returned."""
    returned = contract.returned
    if not returned:
        return "None"
    if len(contract.results) == 1:
        return "KP_got"
    picked = [f"KP_got[{i}]" for i in returned]
    return picked[0] if len(picked) == 1 else f"({', '.join(picked)})"
