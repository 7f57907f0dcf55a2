"""The signature's names of dtypes, and torch's."""

from __future__ import annotations

import torch

_NAMES = {
    "bool": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
    "c128": "complex128",
    "f8_e4m3fn": "float8_e4m3fn",
    "f8_e4m3fnuz": "float8_e4m3fnuz",
    "f8_e5m2": "float8_e5m2",
    "f8_e5m2fnuz": "float8_e5m2fnuz",
    "f8_e8m0fnu": "float8_e8m0fnu",
}

TO_TORCH: dict[str, torch.dtype] = {ours: getattr(torch, name) for ours, name in _NAMES.items() if hasattr(torch, name)}
NAME_OF: dict[torch.dtype, str] = {dtype: ours for ours, dtype in TO_TORCH.items()}

_REAL = {torch.complex64: torch.float32, torch.complex128: torch.float64}
_COMPLEX = {real: complex_ for complex_, real in _REAL.items()}


def name_of(dtype: torch.dtype) -> str:
    """The signature's name, or torch's where the signature has none."""
    return NAME_OF.get(dtype, str(dtype).removeprefix("torch."))


def real_of(dtype: torch.dtype) -> torch.dtype:
    return _REAL.get(dtype, dtype)


def complex_of(dtype: torch.dtype) -> torch.dtype:
    return _COMPLEX.get(dtype, dtype)
