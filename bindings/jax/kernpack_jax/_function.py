"""A kernel function as tracing sees it: its parameters and results, read once from the compiled signature."""

from __future__ import annotations

import ctypes
import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kernpack import FunctionInfo, _gradients

from . import _c

TENSOR, INT, FLOAT, BOOL, DTYPE, DEVICE, STR = range(7)
_OPTIONAL, _LIST, _KEYWORD_ONLY, _MUTATED, _HAS_DEFAULT, _SCALAR_OK = 1, 2, 4, 8, 16, 128
_HAS_WORKSPACE = 8


@dataclass(frozen=True)
class Dims:
    """A tensor's dtype and shape as the contract writes them: the dtype's form, the batch form, the other terms."""

    dtype: tuple[str, str]  # ("fixed", "f32"), ("var", "T"), ("param", "to"), ("real", "T") or ("complex", "T")
    batch: str | None  # "...", "~..." or None
    terms: tuple[str, ...]

    @property
    def has_tuple(self) -> bool:
        """Whether one term stands for any number of dims."""
        return any(term.startswith("*") for term in self.terms)


@dataclass(frozen=True)
class Parameter:
    """One parameter; `kind` is TENSOR, INT, ..."""

    name: str
    kind: int
    flags: int
    default: object
    dims: Dims | None  # of a tensor, or of each tensor of a list

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


@dataclass(frozen=True)
class Result:
    """One result; `sum`: partial results add up; `aux`: saved for the backward, not returned."""

    name: str
    dims: Dims
    sum: bool
    aux: bool


class Function:
    """One of a callable; see `of`. Immortal like what it describes."""

    def __init__(self, info: FunctionInfo) -> None:
        loaded = ctypes.cast(info.handle, ctypes.POINTER(_c.LoadedFunction))
        self.info = info
        self.qualified_name = f"{info.module_name}@{info.digest}/{info.name}"  # what a compiled program stores
        major = info._origin.version.partition(".")[0] if info._origin is not None else ""
        # What an exported program stores, which is to run with later builds of the module too.
        self.exported_name = f"{info.module_name}@v{major}/{info.name}" if major else self.qualified_name
        self.name: str = info.name
        self.full_name = f"{info.module_name}.{info.name}"  # in jaxprs, HLO and profiles
        self.program = loaded.contents.program
        if not self.program:
            raise TypeError(
                f"{self.name}: has no signature, so JAX cannot know its results; give KP_EXPORT one in the kernel's source"
            )
        self.c_name = self.name.encode()
        self.typed: dict[str, Any] = json.loads(info._signature_json() or "{}")
        self.parameters = tuple(self._parameters())
        self.mutates = any(parameter.mutated for parameter in self.parameters)
        self.results = tuple(Result(r["name"], _dims(r), r["sum"], r["aux"]) for r in self.typed["results"])
        self.num_results = len(self.results)
        self.returned = tuple(i for i, result in enumerate(self.results) if not result.aux)
        self.independent = frozenset(self.typed["props"]["independent"])
        self.nondiff = frozenset(self.typed["props"]["nondiff"])
        self.has_workspace = bool(_c.lib.kp_sig_props(self.program) & _HAS_WORKSPACE)

    def _parameters(self) -> list[Parameter]:
        found = []
        for index, typed in enumerate(self.typed["params"]):
            raw = _c.Parameter()
            _c.check(_c.lib.kp_sig_param(self.program, index, ctypes.byref(raw)), self.name)
            dims = _dims(typed) if raw.kind == TENSOR else None
            found.append(Parameter(raw.name.decode(), raw.kind, raw.flags, _default(raw), dims))
        return found

    @functools.cached_property
    def backwards(self) -> tuple[tuple[Function, _gradients.Backward], ...]:
        """The functions that KP_GRAD declares to compute gradients of this one, and how its arguments reach them."""
        module = self.info._origin
        if module is None:
            return ()
        names = {name for pair in module._gradients if pair[0] == self.name for name in pair}
        typed = {name: module.functions[name].typed or {} for name in names}
        steps = _gradients.plan(self.name, module._gradients, typed) if names else ()
        return tuple((of(module.functions[step.name].callable), step) for step in steps)

    @functools.cached_property
    def tangent(self) -> tuple[Function, _gradients.Tangent] | None:
        """The function that KP_JVP declares to compute tangents of this one's results, and how arguments reach it."""
        module = self.info._origin
        names = {name for pair in module._jvps if pair[0] == self.name for name in pair} if module is not None else ()
        if module is None or not names:
            return None
        typed = {name: module.functions[name].typed or {} for name in names}
        plan = _gradients.tangent_plan(self.name, module._jvps, typed)
        return None if plan is None else (of(module.functions[plan.name].callable), plan)

    def __repr__(self) -> str:
        return f"<{self.full_name}>"


@functools.cache
def of(callable_: Callable[..., Any]) -> Function:
    """The Function behind `k.rms_norm`, which is a builtin whose `__self__` is its FunctionInfo."""
    return Function(callable_.__self__)  # type: ignore[attr-defined]


def _dims(typed: dict[str, Any]) -> Dims:
    ((form, name),) = typed["dtype"].items()
    return Dims((form, name), typed["batch"], tuple(typed["shape"]))


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
