"""What torch asks of an operator: fake results, batching, gradients, what it writes to. Registered with a function's first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd.graph import increment_version

from . import _autograd, _shapes, _vmap
from ._function import Function


def register(
    function: Function, library: torch.library.Library
) -> tuple[Callable[..., Any], Callable[..., Any] | None]:
    """Everything but the kernels at the Autograd key, which it returns: of the operator, and of its overload `out`."""
    for overload, op in (("default", function.op), ("out", function.out)):
        if op is not None:
            _register_one(function, overload, op, library)
    qualified = f"{function.operators.namespace}::{function.name}"
    torch.library.register_vmap(qualified, _batching(function), lib=library)
    if _is_the_same_call(function):
        # The direct call in the dispatcher's place: it goes there itself for all that torch must see. Private, but there is no other
        # way to make torch.ops' own call as quick; where torch takes `_op` no longer from the object, nothing changes.
        function.op._op = function.info.callable
        function.op.overloadpacket.__class__ = _Packet
    out = _autograd.out_kernel(function.contract, function.out) if function.out is not None else None
    return _autograd.kernel(function.contract, function.op, _recording(function), function.tangents.call), out


class _Packet(torch._ops.OpOverloadPacket):
    """`torch.ops.<namespace>.<name>` itself: goes to `default`, which is quick, unless a keyword may choose another overload."""

    __module__ = torch._ops.OpOverloadPacket.__module__  # torch tells its operators by it

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs) if kwargs else self.default(*args)


def _register_one(function: Function, overload: str, op: Any, library: torch.library.Library) -> None:
    op.tags.extend(tag for tag in _tags(function) if tag not in op.tags)
    name = function.name if overload == "default" else f"{function.name}.{overload}"
    fake = _fake_out(function) if overload == "out" else _fake(function)
    torch.library.register_fake(f"{function.operators.namespace}::{name}", fake, lib=library)
    mutated = [param.name for param in function.contract.parameters if param.mutated]
    if overload == "out":
        mutated += [result.name for result in function.contract.results]
    if mutated:
        library.impl(name, _bumping(op, mutated), "ADInplaceOrView", with_keyset=True)


def _is_the_same_call(function: Function) -> bool:
    """Whether the direct call takes and gives what the operator does: keyword-only parameters, results."""
    contract = function.contract
    keywords = [argument.kwarg_only for argument in function.op._schema.arguments]
    return keywords == [param.keyword_only for param in contract.parameters] and not any(
        result.aux for result in contract.results
    )


def _recording(function: Function) -> Callable[[tuple[Any, ...]], Any]:
    return lambda values: function.returned(function.record(values))


def _tags(function: Function) -> list[Any]:
    """What ffi/src/torch/register.cc says where torch's C functions can say it: from 2.12."""
    return [
        torch.Tag.pt2_compliant_tag,
        torch.Tag.needs_exact_strides,
        *([] if function.contract.graph_safe else [torch.Tag.cudagraph_unsafe]),
        *([] if function.contract.deterministic else [torch.Tag.nondeterministic_bitwise]),
    ]


def _positions(function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """One value a parameter. torch gives an operator's kernels what its caller wrote, without defaults."""
    values = list(args)
    for param in function.contract.parameters[len(args) :]:
        values.append(kwargs.get(param.name, param.default))
    return values


def _fake(function: Function) -> Callable[..., Any]:
    def fake(*args: Any, **kwargs: Any) -> Any:
        return function.returned(_shapes.results(function.contract, _positions(function, args, kwargs)))

    return fake


def _fake_out(function: Function) -> Callable[..., None]:
    def fake(*args: Any, **kwargs: Any) -> None:
        values = _positions(function, args, kwargs)
        _shapes.check_destinations(
            function.contract, values, [kwargs[result.name] for result in function.contract.results]
        )

    return fake


def _batching(function: Function) -> Callable[..., Any]:
    def rule(info: Any, in_dims: Any, *args: Any, **kwargs: Any) -> Any:
        dims = list(in_dims) + [None] * (len(function.contract.parameters) - len(in_dims))
        values = _positions(function, args, kwargs)
        outputs, out_dims = _vmap.batched(function, function.run, info.batch_size, dims, values)
        if not outputs:
            return None, None
        return (outputs[0], out_dims[0]) if len(outputs) == 1 else (tuple(outputs), tuple(out_dims))

    return rule


def _bumping(op: Any, mutated: list[str]) -> Any:
    """The kernel that tells autograd what is written to, then lets the operator go on."""
    positions = {name: i for i, name in enumerate(argument.name for argument in op._schema.arguments)}

    def kernel(keyset: Any, *args: Any, **kwargs: Any) -> Any:
        for name in mutated:
            value = kwargs[name] if name in kwargs else args[positions[name]]
            if value is not None:
                increment_version(value)
        with torch._C._AutoDispatchBelowADInplaceOrView():
            return op.redispatch(keyset & torch._C._after_ADInplaceOrView_keyset, *args, **kwargs)

    return kernel
