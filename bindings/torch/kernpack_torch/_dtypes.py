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


@functools.cache
def name_of(dtype: torch.dtype) -> str:
    """The contract's name, or torch's where contracts have none."""
    try:
        return DType(dtype).name
    except ValueError:
        return str(dtype).removeprefix("torch.")
