"""Batching by the signature: a batched operand's new dim joins the "..." dims; where there are none, the call is made per item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import _shapes


def batched(
    function: Any, run: Callable[..., Any], size: int, dims: Sequence[Any], values: Sequence[Any]
) -> tuple[list[Any], list[int | None]]:
    """All results and the dim that was added to each. run: which of the function's operators to call."""
    make = _merged if _can_merge(function.contract, dims) else _per_item
    return make(function, run, size, dims, values)


def _any_dim(dims: Any) -> bool:
    return any(dim is not None for dim in dims) if isinstance(dims, (list, tuple)) else dims is not None


def _can_merge(contract: Any, dims: Sequence[Any]) -> bool:
    """True if every batched operand has batch dims, and every result and written parameter keeps them."""
    carriers = [param for param in contract.parameters if param.is_tensor and param.tensor.batch == "..."]
    if not carriers or any(result.tensor.batch is None for result in contract.results):
        return False
    for param, dim in zip(contract.parameters, dims, strict=True):
        if _any_dim(dim) and param.tensor.batch is None:
            return False
        if param.mutated and not (_any_dim(dim) and param.tensor.batch == "..."):
            return False  # shared by all items: the order of the calls would matter
    return True


def _merged(
    function: Any, run: Callable[..., Any], size: int, dims: Sequence[Any], values: Sequence[Any]
) -> tuple[list[Any], list[int | None]]:
    written: list[tuple[torch.Tensor, torch.Tensor]] = []

    def front(param: Any, value: Any, dim: Any) -> Any:
        if dim is not None:
            moved = value.movedim(dim, 0)
        elif param.tensor.batch == "...":
            moved = value.expand(size, *value.shape)
        elif param.tensor.batch == "~...":
            moved = value.unsqueeze(0)
        else:
            return value
        whole = moved if param.strided else moved.contiguous()
        if param.mutated and whole.data_ptr() != moved.data_ptr():
            written.append((moved, whole))
        return whole

    arguments = []
    for param, value, dim in zip(function.contract.parameters, values, dims, strict=True):
        if not param.is_tensor or value is None:
            arguments.append(value)
        elif param.is_list:
            item_dims = dim if isinstance(dim, (list, tuple)) else [dim] * len(value)
            arguments.append([front(param, item, d) for item, d in zip(value, item_dims, strict=True)])
        else:
            arguments.append(front(param, value, dim))
    outputs = list(function.outputs(run(*arguments)))
    for moved, whole in written:
        moved.copy_(whole)
    return outputs, [0] * len(outputs)


def _per_item(
    function: Any, run: Callable[..., Any], size: int, dims: Sequence[Any], values: Sequence[Any]
) -> tuple[list[Any], list[int | None]]:
    contract = function.contract
    for param, dim in zip(contract.parameters, dims, strict=True):
        if param.mutated and not _any_dim(dim):
            raise ValueError(
                f"{contract.name}: {param.name}: is written in place by every item of the vmap, which share it; batch it too "
                "(in_dims)"
            )
    rows = []
    for index in range(size):
        written: list[tuple[torch.Tensor, torch.Tensor]] = []
        arguments = [_item(p, v, d, index, written) for p, v, d in zip(contract.parameters, values, dims, strict=True)]
        rows.append(function.outputs(run(*arguments)))
        for selected, whole in written:
            selected.copy_(whole)
    if not rows:
        return _no_items(function, dims, values)
    return [torch.stack(list(column)) for column in zip(*rows, strict=True)], [0] * len(contract.results)


def _item(param: Any, value: Any, dim: Any, index: int, written: list[tuple[torch.Tensor, torch.Tensor]]) -> Any:
    if value is None or not param.is_tensor:
        return value
    if param.is_list:
        item_dims = dim if isinstance(dim, (list, tuple)) else [dim] * len(value)
        return [_select(param, item, d, index, written) for item, d in zip(value, item_dims, strict=True)]
    return _select(param, value, dim, index, written)


def _select(param: Any, value: Any, dim: Any, index: int, written: list[tuple[torch.Tensor, torch.Tensor]]) -> Any:
    if dim is None:
        return value
    selected = value.select(dim, index)
    whole = selected if param.strided else selected.contiguous()
    if param.mutated and whole.data_ptr() != selected.data_ptr():
        written.append((selected, whole))
    return whole


def _no_items(function: Any, dims: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[int | None]]:
    """vmap over nothing: the shapes of the results all the same."""

    def one(param: Any, value: Any, dim: Any) -> Any:
        if value is None or dim is None or not param.is_tensor:
            return value
        if param.is_list:
            return [one_tensor(item, d) for item, d in zip(value, dim, strict=True)]
        return one_tensor(value, dim)

    def one_tensor(value: torch.Tensor, dim: int | None) -> torch.Tensor:
        return value if dim is None else value.new_empty([s for i, s in enumerate(value.shape) if i != dim])

    shaped = [one(p, v, d) for p, v, d in zip(function.contract.parameters, values, dims, strict=True)]
    outputs = _shapes.results(function.contract, shaped)
    return [output.new_empty((0, *output.shape)) for output in outputs], [0] * len(outputs)
