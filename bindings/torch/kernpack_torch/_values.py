"""Arguments of a call: what torch's operators want them to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from kernpack._torch_facts import torch_has_tangent

from . import _dtypes
from ._spec import Param, Spec


def prepare(spec: Spec, values: Sequence[Any]) -> Sequence[Any]:
    """Dtypes, devices and numbers in torch's own forms; everything else as it is."""
    changed: list[Any] | None = None
    for i, param in enumerate(spec.params):
        value = values[i]
        if value is None or param.kind in ("int", "float", "bool", "str"):
            continue
        if param.kind == "dtype":
            new: Any = [_dtype(spec, param, v) for v in value] if param.is_list else _dtype(spec, param, value)
        elif param.kind == "device":
            new = [torch.device(str(v)) for v in value] if param.is_list else torch.device(str(value))
        elif param.is_list:
            new = list(value)
        elif isinstance(value, torch.Tensor) or hasattr(type(value), "__torch_function__"):  # torch.fx.Proxy has it
            continue
        else:
            new = _number(spec, param, value, values)
        if changed is None:
            changed = list(values)
        changed[i] = new
    return values if changed is None else changed


def _dtype(spec: Spec, param: Param, value: Any) -> torch.dtype:
    if isinstance(value, torch.dtype):
        return value
    from kernpack import DType

    try:
        return _dtypes.TO_TORCH[DType(value).name]
    except KeyError:
        raise TypeError(f"{spec.name}: {param.name}: torch has no dtype {value}") from None


def _number(spec: Spec, param: Param, value: Any, values: Sequence[Any]) -> torch.Tensor:
    """A tensor of rank 0 of a number, where the signature takes one."""
    form = param.form
    if (
        form is None
        or form.shape
        or form.batch
        or not isinstance(value, (bool, int, float, torch.SymInt, torch.SymFloat))
    ):
        raise TypeError(f"{spec.name}: {param.name}: expected a torch tensor, got {type(value).__name__}")
    others = [(p, v) for p, v in zip(spec.params, values, strict=True) if isinstance(v, torch.Tensor)]
    device = next((v.device for p, v in others if not p.on_cpu), torch.device("cpu"))
    if "fixed" in form.dtype:
        dtype = _dtypes.TO_TORCH[form.dtype["fixed"]]
    else:
        same = (v.dtype for p, v in others if p.form is not None and p.form.dtype == form.dtype)
        dtype = next(same, torch.tensor(value).dtype)
    return torch.scalar_tensor(value, dtype=dtype, device="cpu" if param.on_cpu else device)


def tensors(spec: Spec, values: Sequence[Any]) -> Iterator[tuple[Param, torch.Tensor]]:
    """Each tensor given, those in lists included."""
    for param, value in zip(spec.params, values, strict=True):
        if param.kind == "tensor" and value is not None:
            if param.is_list:
                for item in value:
                    yield param, item
            else:
                yield param, value


def any_requires_grad(spec: Spec, values: Sequence[Any]) -> bool:
    """Whether a tensor given requires a gradient, whatever the signature says of it."""
    return any(tensor.requires_grad for _, tensor in tensors(spec, values))


def has_tangent(spec: Spec, values: Sequence[Any]) -> bool:
    """Whether a tensor is differentiated in forward mode, at the level that torch works at."""
    return any(torch_has_tangent(tensor) for _, tensor in tensors(spec, values))


def check_destination(function: str, name: str, given: torch.Tensor, expected: torch.Tensor) -> None:
    if given.dtype != expected.dtype:
        wanted, got = _dtypes.name_of(expected.dtype), _dtypes.name_of(given.dtype)
        raise TypeError(f"{function}: {name}: expected dtype {wanted}, got {got}")
    if given.shape != expected.shape:
        raise ValueError(f"{function}: {name}: expected shape {list(expected.shape)}, got {list(given.shape)}")
