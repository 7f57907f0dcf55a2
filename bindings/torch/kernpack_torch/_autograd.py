"""An operator's kernel at torch's Autograd key, written as text for each function: calls come through it whenever the dispatcher
is asked, so every statement counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from kernpack import _core
from kernpack._contract import Contract, Parameter
from kernpack._private.torch import names
from kernpack._torch_questions import torch_has_tangent

from . import _refusals
from ._binder import define, in_schema

# Below autograd, as if it weren't there.
_GO_ON = """\
    try:
        with KP_below_autograd():
            return KP_redispatch(KP_keys & KP_after_autograd, {given})
    except RuntimeError as KP_error:
        KP_raise_as_direct_call_does(KP_error, KP_spec.name, KP_names, ({all}))
        raise
"""

_KERNEL = (
    """
def KP_kernel(KP_keys, {parameters}):
    if KP_any_tangent({tensors}) and KP_has_tangent({tensors}):
        return KP_with_tangents(({values}))
    if KP_grad_mode() and ({wants}):
        return KP_record(({values}))
"""
    + _GO_ON
)

_OUT_KERNEL = (
    """
def KP_kernel(KP_keys, {parameters}):
    if KP_grad_mode() and ({wants}) or KP_any_tangent({tensors}) and KP_has_tangent({tensors}):
        raise KP_no_destination(KP_spec.name)
"""
    + _GO_ON
)


def kernel(
    contract: Contract,
    op: Any,
    record: Callable[[tuple[Any, ...]], Any],
    with_tangents: Callable[[tuple[Any, ...]], Any],
) -> Callable[..., Any]:
    """The kernel of `op`: record and with_tangents take one value per parameter, and give what the operator returns."""
    return _define(contract, op, _KERNEL, KP_record=record, KP_with_tangents=with_tangents)


def out_kernel(contract: Contract, op: Any) -> Callable[..., Any]:
    """The kernel of the overload that writes to destinations: no gradient goes through those."""
    return _define(contract, op, _OUT_KERNEL)


def _define(contract: Contract, op: Any, text: str, **more: Any) -> Callable[..., Any]:
    scope: dict[str, Any] = {
        "KP_spec": contract,
        "KP_any": any,
        "KP_any_tangent": _core.torch_any_tangent,
        "KP_grad_mode": torch.is_grad_enabled,
        "KP_has_tangent": torch_has_tangent,
        "KP_no_destination": _refusals.no_destination,
        "KP_names": tuple(argument.name for argument in names.schema(op).arguments),
        "KP_raise_as_direct_call_does": _refusals.raise_as_direct_call_does,
        "KP_redispatch": op.redispatch,
        "KP_below_autograd": names.BelowAutograd,
        "KP_after_autograd": names.after_autograd,
        **more,
    }
    params = {in_schema(param.name): param for param in contract.parameters}
    parameters: list[str] = []
    given: list[str] = []
    wants: list[str] = []
    for argument in names.schema(op).arguments:
        if argument.kwarg_only and "*" not in parameters:
            parameters.append("*")
        declared = params.get(argument.name)
        # torch leaves out what its caller did, and what is the schema's default.
        if declared is not None and argument.has_default_value():
            scope[f"KP_default_{argument.name}"] = declared.default
            parameters.append(f"{argument.name}=KP_default_{argument.name}")
        else:
            parameters.append(argument.name)
        given.append(f"{argument.name}={argument.name}" if argument.kwarg_only else argument.name)
        if declared is None:
            wants.append(f"{argument.name}.requires_grad")
        elif declared.is_tensor:
            wants.append(requires_grad(declared, argument.name))
    body = text.format(
        parameters=", ".join(parameters),
        tensors=", ".join(tensors(contract)),
        values="".join(f"{name}, " for name in params),
        wants=" or ".join(wants) or "False",
        given=", ".join(given),
        all="".join(f"{argument.name}, " for argument in names.schema(op).arguments),
    )
    return define("KP_kernel", body, scope)


def tensors(contract: Contract) -> list[str]:
    """Expressions of all arguments that are tensors, lists spread."""
    found = [param for param in contract.parameters if param.is_tensor]
    return [
        f"*({in_schema(param.name)} or ())"
        if param.is_list and param.optional
        else f"*{in_schema(param.name)}"
        if param.is_list
        else in_schema(param.name)
        for param in found
    ]


def requires_grad(param: Parameter, name: str) -> str:
    """An expression: whether what `name` stands for, given for a tensor parameter, requires a gradient."""
    one = f"{name}.requires_grad"
    if param.is_list:
        one = f"KP_any([KP_item.requires_grad for KP_item in {name}])"
    return f"({name} is not None and {one})" if param.optional else one
