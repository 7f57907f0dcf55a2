"""A function's contract as Python reads it: what the call core tells of it (docs/signature.md, "JSON"), with attributes."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernpack import _expression
from kernpack._expression import Condition, Expression

if TYPE_CHECKING:
    from kernpack._module import FunctionInfo


@dataclass(frozen=True)
class TensorType:
    """The dtype and shape of a tensor parameter, of each tensor of a list, or of a result."""

    dtype: tuple[str, str]  # ("fixed", "f32"), ("var", "T"), ("param", "to"), ("real", "T") or ("complex", "T")
    batch: str | None  # "...", "~..." or None
    terms: tuple[str, ...]  # "_", "*S" or an expression, one each; without the batch
    text: str  # the shape as its author wrote it: "[..., D]"

    @property
    def has_tuple(self) -> bool:
        """True if one term stands for any number of dims."""
        return any(term.startswith("*") for term in self.terms)

    @functools.cached_property
    def is_computed(self) -> bool:
        """True if the shape can be checked only after all dims are bound."""
        return self.batch == "~..." or any(op in ("int", "code") for op, _ in self.dims)

    @functools.cached_property
    def binds(self) -> frozenset[tuple[str, Any]]:
        """The names that a tensor of this shape binds: ("dtype", "T"), ("batch", "..."), ("var", "D"), ("tuple", "S")."""
        own = {("dtype", self.dtype[1])} if self.dtype[0] == "var" else set()
        return frozenset({*own, ("batch", self.batch), *(dim for dim in self.dims if dim[0] in ("var", "tuple"))})

    @functools.cached_property
    def dims(self) -> tuple[tuple[str, Any], ...]:
        """Each term as ("any", None), ("const", 3), ("var", "D"), ("tuple", "S"), ("int", "k") or ("code", Expression)."""
        return tuple(_dim(term) for term in self.terms)


_SHORT = (
    1 << 24
)  # sizes below are part of the shape; larger ones, and all that is computed, are checked after all dims are bound


def _dim(term: str) -> tuple[str, Any]:
    if term == "_":
        return "any", None
    if term.startswith("*"):
        return "tuple", term[1:]
    if term.isidentifier():
        return ("var" if term[0].isupper() else "int"), term
    if term.isdigit() and int(term) < _SHORT:
        return "const", int(term)
    return "code", _expression.parse(term)


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: str  # tensor, int, float, bool, dtype, device, str
    tensor: TensorType | None
    optional: bool
    is_list: bool
    keyword_only: bool
    mutated: bool
    strided: bool
    compact: bool  # the kernel gets row-major memory, a copy of what is strided
    on_cpu: bool
    has_default: bool
    default: Any  # a dtype's is its name
    choices: tuple[str, ...]  # of a string; empty: any

    @property
    def is_tensor(self) -> bool:
        return self.kind == "tensor"

    @property
    def scalar_ok(self) -> bool:
        """True if a number may stand for the tensor, or for a tensor of the list."""
        return self.tensor is not None and not (self.tensor.batch or self.tensor.terms or self.mutated)


@dataclass(frozen=True)
class Result:
    """One result; `sum`: partial results add up; `aux`: saved for the backward, not returned."""

    name: str
    tensor: TensorType
    sum: bool
    aux: bool


@dataclass(frozen=True)
class Workspace:
    size: Expression
    text: str  # as its author wrote it


@dataclass(frozen=True)
class Contract:
    """One function's contract. Its name is the function's, which stands in the error messages."""

    name: str
    parameters: tuple[Parameter, ...]
    results: tuple[Result, ...]
    dtype_vars: dict[str, tuple[str, ...] | None]  # None: any
    where: tuple[Condition, ...]
    on: str | None
    independent: tuple[str, ...]
    invariant: tuple[str, ...]  # "..." for the batch
    nondiff: frozenset[str]
    graph_safe: bool
    deterministic: bool
    workspace: Workspace | None

    @property
    def returned(self) -> tuple[int, ...]:
        """Which results the caller sees."""
        return tuple(i for i, result in enumerate(self.results) if not result.aux)

    @property
    def num_positional(self) -> int:
        return sum(not parameter.keyword_only for parameter in self.parameters)

    @functools.cached_property
    def expressions(self) -> tuple[Expression, ...]:
        """All that are computed: of shapes, conditions and the workspace."""
        tensors = [each.tensor for each in self.parameters if each.tensor] + [each.tensor for each in self.results]
        found = [operand for tensor in tensors for op, operand in tensor.dims if op == "code"]
        found += [operand for condition in self.where for operand in condition.operands]
        return (*found, self.workspace.size) if self.workspace else tuple(found)

    @functools.cached_property
    def least_items(self) -> dict[str, int]:
        """How many items each list of ints must have that expressions take items of."""
        least: dict[str, int] = {}
        for item in map(_expression.parse_item, (name for each in self.expressions for name in each.names)):
            if item is not None:
                least[item[0]] = max(item[1] + 1, least.get(item[0], 0))
        return least

    @functools.cached_property
    def takes_destinations(self) -> bool:
        """True if `out=` is for destinations; False if a parameter has this name."""
        return not any(parameter.name == "out" for parameter in self.parameters)

    @property
    def mutates(self) -> bool:
        return any(parameter.mutated for parameter in self.parameters)


def of(info: FunctionInfo) -> Contract | None:
    """A function's contract; None without one."""
    typed = info.typed
    return None if typed is None else read(info.name, typed)


def read(name: str, typed: dict[str, Any]) -> Contract:
    """The contract of the function of that name, from `FunctionInfo.typed`."""
    props = typed["props"]
    return Contract(
        name,
        tuple(_parameter(each) for each in typed["params"]),
        tuple(Result(each["name"], _tensor(each), each["sum"], each["aux"]) for each in typed["results"]),
        {var: None if names == "any" else tuple(names) for var, names in typed["dtype_vars"].items()},
        tuple(_expression.condition(*both) for both in zip(typed["where"], typed["where_text"], strict=True)),
        props["on"],
        tuple(props["independent"]),
        tuple(props["invariant"]),
        frozenset(props["nondiff"]),
        props["graph_safe"],
        props["deterministic"],
        typed["workspace"] and Workspace(_expression.parse(typed["workspace"]), typed["workspace_text"]),
    )


def _tensor(typed: dict[str, Any]) -> TensorType:
    ((form, name),) = typed["dtype"].items()
    return TensorType((form, name), typed["batch"], tuple(typed["shape"]), typed["shape_text"])


def _parameter(typed: dict[str, Any]) -> Parameter:
    default = typed["default"]
    if typed["kind"] in ("float", "tensor"):
        default = [float(item) for item in default] if isinstance(default, list) else _float(default)
    return Parameter(
        typed["name"],
        typed["kind"],
        _tensor(typed) if typed["kind"] == "tensor" else None,
        typed["optional"],
        typed["list"],
        typed["keyword_only"],
        typed["mutated"],
        typed["strided"],
        typed["compact"],
        typed["cpu"],
        typed["has_default"],
        default,
        tuple(typed.get("choices", ())),
    )


def _float(value: Any) -> Any:
    return None if value is None else float(value)  # "inf", "-inf" and "nan" are text in JSON
