"""The names that NumPy, ml_dtypes, torch and JAX have for the dtypes of contracts. The core reads both (ffi/src/tensor/dtype_name.cc); this
writes theirs."""

from __future__ import annotations

import functools
import re

from kernpack._core import DType

_WORDS = {"i": "int", "u": "uint", "f": "float", "bf": "bfloat", "c": "complex"}


@functools.cache
def full_name(name: str) -> str:
    """ "f8_e4m3fn" -> "float8_e4m3fn"."""
    letters, rest = re.fullmatch(r"([a-z]+)(.*)", name).groups()  # type: ignore[union-attr]
    found = _WORDS.get(letters, letters) + rest
    assert DType(found).name == name
    return found
