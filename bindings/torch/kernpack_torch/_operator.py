"""The parts of an operator that torch requires: fake results, batching, gradients, written arguments. Registered with a function's first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from kernpack._contract import Parameter
from kernpack._private.torch import lowerings, names
from torch.autograd.graph import increment_version

from . import _aliases, _autograd, _by_name, _refusals, _shapes, _vmap
from ._binder import in_schema
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
    if _has_the_same_arguments(function):
        _by_name.enter(function, _knows_whose_results_to_give(function))
    out = _autograd.out_kernel(function.contract, function.out) if function.out is not None else None
    return _autograd.kernel(function.contract, function.op, _recording(function), function.tangents.call), out


def lower(function: Function) -> None:
    """Registers the lowering that inductor requires for an operator that writes."""
    for op in (function.op, function.out):
        if op is not None and (mutated := _mutated(function, op is function.out)):
            lowerings.copy_what_is_written(op, mutated)
            lowerings.realize_inputs(_aliases.of(op))


def _mutated(function: Function, out: bool) -> list[str]:
    """The names in the schema of all that is written to. out: by the overload with destinations."""
    found = [in_schema(param.name) for param in function.contract.parameters if param.mutated]
    return found + [in_schema(result.name) for result in function.contract.results] if out else found


def _register_one(function: Function, overload: str, op: Any, library: torch.library.Library) -> None:
    op.tags.extend(tag for tag in _tags(function) if tag not in op.tags)
    name = function.name if overload == "default" else f"{function.name}.{overload}"
    fake = _fake_out(function) if overload == "out" else _fake(function)
    torch.library.register_fake(f"{function.operators.namespace}::{name}", fake, lib=library)
    refuse = _refusals.strange_tensor(function.name, [argument.name for argument in names.schema(op).arguments])
    for key in _STRANGE:
        library.impl(name, refuse, key)
    mutated = _mutated(function, overload == "out")
    if mutated:
        aliased = _aliases.define(library, op, overload, fake)
        aliased.tags.extend(op.tags)
        library.impl(name, _bumping(op, aliased, mutated), "ADInplaceOrView", with_keyset=True)
        for key, is_lazy, resolve in _LAZY:
            library.impl(name, _resolving(op, mutated, is_lazy, resolve), key)


# Where the dispatcher takes tensors that no kernel takes. Without a kernel there, torch raises an error of 6,000 characters.
_STRANGE = (
    *("SparseCPU", "SparseCsrCPU", "QuantizedCPU", "NestedTensorCPU", "MkldnnCPU"),
    *(("SparseCUDA", "SparseCsrCUDA", "QuantizedCUDA", "NestedTensorCUDA") if torch.backends.cuda.is_built() else ()),
)

# Tensors that torch negates or conjugates when their values are asked for. Its own way for operators that write returns nothing
# where they do.
_LAZY = (
    ("Negative", torch.Tensor.is_neg, torch.Tensor.resolve_neg),
    ("Conjugate", torch.Tensor.is_conj, torch.Tensor.resolve_conj),
)


def _resolving(
    op: Any, mutated: list[str], is_lazy: Callable[[Any], bool], resolve: Callable[[Any], Any]
) -> Callable[..., Any]:
    """The kernel that calls the operator with tensors as memory holds them, and writes back to those that it changes."""
    list_names = [argument.name for argument in names.schema(op).arguments]

    def kernel(*args: Any, **kwargs: Any) -> Any:
        written: list[tuple[Any, Any]] = []

        def plain(name: str, value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return [plain(name, item) for item in value]
            if not isinstance(value, torch.Tensor) or not is_lazy(value):
                return value
            resolved = resolve(value)
            if name in mutated:
                written.append((value, resolved))
            return resolved

        given = [plain(name, value) for name, value in zip(list_names, args, strict=False)]
        result = _by_name.dispatch(op)(*given, **{name: plain(name, value) for name, value in kwargs.items()})
        for value, resolved in written:
            value.copy_(resolved)
        return result

    return kernel


def _has_the_same_arguments(function: Function) -> bool:
    """True if the direct call has the names, keyword-only parameters and results of the operator."""
    contract = function.contract
    if any(in_schema(param.name) != param.name for param in contract.parameters):
        return False
    keywords = [argument.kwarg_only for argument in names.schema(function.op).arguments]
    return keywords == [param.keyword_only for param in contract.parameters] and not any(
        result.aux for result in contract.results
    )


def _knows_whose_results_to_give(function: Function) -> bool:
    """True if each direct call has a tensor, by which it knows whose results to give."""
    contract = function.contract
    return not contract.results or any(_is_always_tensor(param) for param in contract.parameters)


def _is_always_tensor(param: Parameter) -> bool:
    return param.is_tensor and not (param.is_list or param.optional or param.scalar_ok)


def _recording(function: Function) -> Callable[[tuple[Any, ...]], Any]:
    return lambda values: function.returned(function.record(values))


def _tags(function: Function) -> list[Any]:
    """The tags that ffi/src/guests/torch/register.cc sets if torch's C functions can set them, from torch 2.12 on."""
    return [
        torch.Tag.pt2_compliant_tag,
        torch.Tag.needs_exact_strides,
        *([] if function.contract.graph_safe else [torch.Tag.cudagraph_unsafe]),
        *([] if function.contract.deterministic else [torch.Tag.nondeterministic_bitwise]),
    ]


def _positions(function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """One value per parameter. torch gives an operator's kernels what its caller wrote, without defaults."""
    values = list(args)
    for param in function.contract.parameters[len(args) :]:
        values.append(kwargs.get(in_schema(param.name), param.default))
    return values


def _fake(function: Function) -> Callable[..., Any]:
    def fake(*args: Any, **kwargs: Any) -> Any:
        return function.returned(_shapes.results(function.contract, _positions(function, args, kwargs)))

    return fake


def _fake_out(function: Function) -> Callable[..., None]:
    def fake(*args: Any, **kwargs: Any) -> None:
        values = _positions(function, args, kwargs)
        _shapes.check_destinations(
            function.contract, values, [kwargs[in_schema(result.name)] for result in function.contract.results]
        )

    return fake


def _batching(function: Function) -> Callable[..., Any]:
    def rule(info: Any, in_dims: Any, /, *args: Any, **kwargs: Any) -> Any:
        dims = list(in_dims) + [None] * (len(function.contract.parameters) - len(in_dims))
        values = _positions(function, args, kwargs)
        outputs, out_dims = _vmap.batched(function, function.run, info.batch_size, dims, values)
        if not outputs:
            return None, None
        return (outputs[0], out_dims[0]) if len(outputs) == 1 else (tuple(outputs), tuple(out_dims))

    return rule


def _bumping(op: Any, aliased: Any, mutated: list[str]) -> Any:
    """The kernel that tells autograd what is written to, then lets the operator go on."""
    positions = {name: i for i, name in enumerate(argument.name for argument in names.schema(op).arguments)}

    def kernel(keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        for name in mutated:
            value = kwargs[name] if name in kwargs else args[positions[name]]
            if value is not None:
                increment_version(value)
        with names.BelowCounting():
            if bases := _aliases.shared(positions, mutated, args, kwargs):
                return aliased(bases, *args, **kwargs)
            return op.redispatch(keyset & names.after_counting, *args, **kwargs)

    return kernel
