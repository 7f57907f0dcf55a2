"""Arguments of a call: what torch's operators want them to be."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from kernpack import DType, _core
from kernpack._contract import Contract, Parameter
from kernpack._core_helpers import jax_kind, not_a_tensor, not_jax

from . import _dtypes


def prepare(contract: Contract, values: Sequence[Any]) -> Sequence[Any]:
    """Dtypes, devices and numbers in torch's own forms; everything else as it is."""
    changed: list[Any] | None = None
    for i, param in enumerate(contract.parameters):
        value = values[i]
        if value is None or param.kind in ("int", "float", "bool", "str"):
            continue
        if param.kind == "dtype":
            new: Any = [_dtype(contract, param, v) for v in value] if param.is_list else _dtype(contract, param, value)
        elif param.kind == "device":
            new = [torch.device(str(v)) for v in value] if param.is_list else torch.device(str(value))
        elif param.is_list:
            new = list(value)
        elif isinstance(value, torch.Tensor) or hasattr(type(value), "__torch_function__"):  # torch.fx.Proxy has it
            continue
        else:
            new = _number(contract, param, value, values)
        if changed is None:
            changed = list(values)
        changed[i] = new
    return values if changed is None else changed


def _dtype(contract: Contract, param: Parameter, value: Any) -> torch.dtype:
    if isinstance(value, torch.dtype):
        return value
    try:
        return _dtypes.of_name(DType(value).name)
    except TypeError as error:
        raise TypeError(f"{contract.name}: {param.name}: {error}") from None


def _number(contract: Contract, param: Parameter, value: Any, values: Sequence[Any]) -> torch.Tensor:
    """A tensor of rank 0 of a number, where the signature takes one."""
    form = param.tensor
    recorded = torch.is_grad_enabled() and any(getattr(v, "requires_grad", False) for v in values)
    if not recorded and not _core.use_torch_hook("torch.watchers", None) and _is_on_cpu(value):
        _refuse_jax(contract, value, values)
        # Another framework's: where only some calls come here, the call core reads those itself.
        return torch.from_dlpack(value)
    if (
        form is None
        or form.terms
        or form.batch
        or not isinstance(value, (bool, int, float, torch.SymInt, torch.SymFloat))
    ):
        raise TypeError(f"{contract.name}: {param.name}: expected a torch tensor, got {not_a_tensor(value)}")
    others = [(p, v) for p, v in zip(contract.parameters, values, strict=True) if isinstance(v, torch.Tensor)]
    device = next((v.device for p, v in others if not p.on_cpu), torch.device("cpu"))
    if form.dtype[0] == "fixed":
        dtype = _dtypes.of_name(form.dtype[1])
    else:
        same = (v.dtype for p, v in others if p.tensor is not None and p.tensor.dtype == form.dtype)
        dtype = next(same, torch.tensor(value).dtype)
    return torch.scalar_tensor(value, dtype=dtype, device="cpu" if param.on_cpu else device)


def _refuse_jax(contract: Contract, value: Any, values: Sequence[Any]) -> None:
    """JAX's arrays and torch's tensors don't go together: the words of JAX's path, to which the call core hands such calls."""
    if "jax" not in sys.modules or not jax_kind(value):
        return
    for param, other in zip(contract.parameters, values, strict=True):
        if isinstance(other, torch.Tensor):
            raise TypeError(
                f"{contract.name}: {param.name}: expected a JAX array like the other arguments, got {not_jax(other)}"
            )


def _is_on_cpu(value: Any) -> bool:
    """True for an array of another framework, in memory that torch can read."""
    return hasattr(value, "__dlpack_device__") and value.__dlpack_device__()[0] == 1


def tensors(contract: Contract, values: Sequence[Any]) -> Iterator[tuple[Parameter, torch.Tensor]]:
    """Each tensor given, those in lists included."""
    for param, value in zip(contract.parameters, values, strict=True):
        if param.kind == "tensor" and value is not None:
            if param.is_list:
                for item in value:
                    yield param, item
            else:
                yield param, value


def any_requires_grad(contract: Contract, values: Sequence[Any]) -> bool:
    """True if a given tensor requires a gradient, whatever the signature says about it."""
    return any(tensor.requires_grad for _, tensor in tensors(contract, values))
