"""A kernel function as tracing sees it: its parameters and results, read once from the compiled signature."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kernpack import FunctionInfo

from . import _c

TENSOR, INT, FLOAT, BOOL, DTYPE, DEVICE, STR = range(7)
_OPTIONAL, _LIST, _KEYWORD_ONLY, _MUTATED, _HAS_DEFAULT, _SCALAR_OK = 1, 2, 4, 8, 16, 128
_RESULT_AUX = 2
_HAS_WORKSPACE = 8


@dataclass(frozen=True)
class Parameter:
    """One parameter; `kind` is TENSOR, INT, ..."""

    name: str
    kind: int
    flags: int
    default: object

    @property
    def is_tensor(self) -> bool:
        return self.kind == TENSOR

    @property
    def is_list(self) -> bool:
        return bool(self.flags & _LIST)

    @property
    def optional(self) -> bool:
        return bool(self.flags & _OPTIONAL)

    @property
    def keyword_only(self) -> bool:
        return bool(self.flags & _KEYWORD_ONLY)

    @property
    def mutated(self) -> bool:
        return bool(self.flags & _MUTATED)

    @property
    def has_default(self) -> bool:
        return bool(self.flags & _HAS_DEFAULT)

    @property
    def scalar_ok(self) -> bool:
        return bool(self.flags & _SCALAR_OK)


class Function:
    """One of a callable; see `of`. Immortal like what it describes."""

    def __init__(self, info: FunctionInfo) -> None:
        loaded = ctypes.cast(info.handle, ctypes.POINTER(_c.LoadedFunction))
        self.info = info
        self.qualified_name = f"{info.module_name}@{info.digest}/{info.name}"  # what a compiled program stores
        self.name: str = info.name
        self.program = loaded.contents.program
        if not self.program:
            raise TypeError(
                f"{self.name}: has no signature, so JAX cannot know its results; give KP_EXPORT one in the kernel's source"
            )
        self.c_name = self.name.encode()
        self.parameters = tuple(self._parameters())
        self.mutates = any(parameter.mutated for parameter in self.parameters)
        self.num_results: int = _c.lib.kp_sig_num_results(self.program)
        self.returned = tuple(i for i in range(self.num_results) if not self._result_flags(i) & _RESULT_AUX)
        self.has_workspace = bool(_c.lib.kp_sig_props(self.program) & _HAS_WORKSPACE)

    def _parameters(self) -> list[Parameter]:
        found = []
        for index in range(_c.lib.kp_sig_num_params(self.program)):
            raw = _c.Parameter()
            _c.check(_c.lib.kp_sig_param(self.program, index, ctypes.byref(raw)), self.name)
            found.append(Parameter(raw.name.decode(), raw.kind, raw.flags, _default(raw)))
        return found

    def _result_flags(self, index: int) -> int:
        raw = _c.Result()
        _c.check(_c.lib.kp_sig_result(self.program, index, ctypes.byref(raw)), self.name)
        return raw.flags

    def __repr__(self) -> str:
        return f"<kernpack function {self.qualified_name}>"


@functools.cache
def of(callable_: Callable[..., Any]) -> Function:
    """The Function behind `k.rms_norm`, which is a builtin whose `__self__` is its FunctionInfo."""
    return Function(callable_.__self__)  # type: ignore[attr-defined]


def _default(raw: _c.Parameter) -> object:
    if not raw.flags & _HAS_DEFAULT:
        return None
    if raw.list_default_size >= 0:
        return [_python(raw.list_default_items[i]) for i in range(raw.list_default_size)]
    return _python(raw.default)


def _python(value: _c.Any) -> object:
    if value.type == _c.TYPE_INT:
        return value.v.int
    if value.type == _c.TYPE_BOOL:
        return bool(value.v.int)
    if value.type == _c.TYPE_FLOAT:
        return value.v.float
    if value.type == _c.TYPE_DTYPE:
        return _c.lib.kp_dtype_name(value.v.dtype).decode()
    if value.type == _c.TYPE_RAW_STR:
        return value.v.text.decode()
    return None
