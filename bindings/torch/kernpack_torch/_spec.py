"""A function's signature as this package reads it: the JSON form, with attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Form:
    """What a tensor parameter or a result looks like."""

    dtype: dict[str, str]  # {"fixed": "f32"}, {"var": "T"}, {"param": name}, {"real": "T"}, {"complex": "T"}
    shape: tuple[str, ...]  # terms: "_", "*S" or an expression
    batch: str | None  # "...", "~..." or None

    @property
    def text(self) -> str:
        """As the signature writes the dims: "[..., D]"."""
        return f"[{', '.join(([self.batch] if self.batch else []) + list(self.shape))}]"


@dataclass(frozen=True)
class Param:
    name: str
    kind: str  # tensor, int, float, bool, dtype, device, str
    form: Form | None  # of tensors
    optional: bool
    is_list: bool
    keyword_only: bool
    mutated: bool
    strided: bool
    on_cpu: bool
    has_default: bool
    default: Any

    @property
    def is_tensor(self) -> bool:
        return self.kind == "tensor"


@dataclass(frozen=True)
class Result:
    name: str
    form: Form
    sum: bool
    aux: bool


@dataclass(frozen=True)
class Spec:
    """One function's signature."""

    name: str
    params: tuple[Param, ...]
    results: tuple[Result, ...]
    dtype_vars: dict[str, tuple[str, ...] | None]  # None: any
    where: tuple[str, ...]
    on: str | None
    independent: tuple[str, ...]
    nondiff: frozenset[str]
    graph_safe: bool
    deterministic: bool

    @property
    def returned(self) -> tuple[int, ...]:
        """Which results the caller sees."""
        return tuple(i for i, result in enumerate(self.results) if not result.aux)

    @property
    def num_positional(self) -> int:
        return sum(not param.keyword_only for param in self.params)

    @property
    def mutates(self) -> bool:
        return any(param.mutated for param in self.params)


def read(name: str, typed: dict[str, Any]) -> Spec:
    """From `FunctionInfo.typed`."""
    return Spec(
        name,
        tuple(_param(param) for param in typed["params"]),
        tuple(Result(r["name"], _form(r), r["sum"], r["aux"]) for r in typed["results"]),
        {var: None if names == "any" else tuple(names) for var, names in typed["dtype_vars"].items()},
        tuple(typed["where"]),
        typed["props"]["on"],
        tuple(typed["props"]["independent"]),
        frozenset(typed["props"]["nondiff"]),
        typed["props"]["graph_safe"],
        typed["props"]["deterministic"],
    )


def _form(record: dict[str, Any]) -> Form:
    return Form(record["dtype"], tuple(record["shape"]), record["batch"])


def _param(record: dict[str, Any]) -> Param:
    default = record["default"]
    if record["kind"] == "float":
        default = [float(item) for item in default] if isinstance(default, list) else _float(default)
    return Param(
        record["name"],
        record["kind"],
        _form(record) if record["kind"] == "tensor" else None,
        record["optional"],
        record["list"],
        record["keyword_only"],
        record["mutated"],
        record["strided"],
        record["cpu"],
        record["has_default"],
        default,
    )


def _float(value: Any) -> Any:
    return None if value is None else float(value)  # "inf", "-inf" and "nan" are text in JSON
