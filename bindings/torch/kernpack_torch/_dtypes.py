"""Contracts' names of dtypes, and torch's dtypes."""

from __future__ import annotations

import functools

import torch
from kernpack import DType
from kernpack._core import dtype_word


@functools.cache
def of_name(name: str) -> torch.dtype:
    """torch's dtype of a contract's name. Of those below a byte torch has the names, but no tensors."""
    dtype = getattr(torch, dtype_word(name), None) if DType(name).bits >= 8 else None
    if dtype is None:
        raise TypeError(f"torch has no dtype {name}")
    found: torch.dtype = dtype
    return found


def of_tensor(where: str, dtype: torch.dtype) -> str:
    """The contract's name of a tensor's dtype. A TypeError where it has none, in the words of the call core."""
    name = _name(dtype)
    if name is None:
        raise TypeError(
            f"{where}: expected a dtype that contracts can name, got {dtype}: pass its bytes, as by x.view(torch.uint8)"
        )
    return name


@functools.cache
def _name(dtype: torch.dtype) -> str | None:
    try:
        name = DType(dtype).name
        return name if of_name(name) is dtype else None
    except (TypeError, ValueError):
        return None
