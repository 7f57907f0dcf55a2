"""The objects of a test: an op of a module, a call of the op, and the findings."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from kernpack import Module, _contract
from kernpack._contract import Contract


@dataclass(frozen=True)
class Op:
    """One function of a loaded module. contract: None where its author wrote none."""

    module: Module
    name: str
    contract: Contract | None

    @classmethod
    def of(cls, module: Module, name: str) -> Op:
        return cls(module, name, _contract.of(module.functions[name]))

    @property
    def function(self) -> Any:
        return self.module.functions[self.name].callable

    @property
    def deterministic(self) -> bool:
        return self.contract is not None and self.contract.deterministic

    @property
    def outcome_names(self) -> list[str]:
        """The results that a caller sees, then the parameters that are written in place."""
        if self.contract is None:
            return []
        returned = [self.contract.results[i].name for i in self.contract.returned]
        return returned + [parameter.name for parameter in self.contract.parameters if parameter.mutated]


@dataclass(frozen=True)
class Call:
    """Arguments by parameter, tensors as NumPy arrays. Without a contract the names are the positions."""

    op: Op
    values: dict[str, Any]
    about: str = ""  # what it tries: "odd sizes"
    dims: dict[str, int] = field(default_factory=dict)
    batch: tuple[int, ...] = ()

    def arguments(self, values: dict[str, Any] | None = None) -> tuple[list[Any], dict[str, Any]]:
        """As Python passes them."""
        values = self.values if values is None else values
        if self.op.contract is None:
            return list(values.values()), {}
        keyword = {parameter.name for parameter in self.op.contract.parameters if parameter.keyword_only}
        positional = [value for name, value in values.items() if name not in keyword]
        return positional, {name: value for name, value in values.items() if name in keyword}

    def replaced(self, **values: Any) -> Call:
        return Call(self.op, {**self.values, **values}, self.about, self.dims, self.batch)

    def text(self) -> str:
        """ "scale(f32[4, 8], by=2.0)", as the checking mode announces calls."""
        positional, keyword = self.arguments()
        words = [describe(value) for value in positional]
        words += [f"{name}={describe(value)}" for name, value in keyword.items()]
        return f"{self.op.name}({', '.join(words)})"

    def arrays(self) -> list[np.ndarray]:
        """Every tensor, items of lists too."""
        found = []
        for value in self.values.values():
            found += [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, np.ndarray)]
        return found

    def has_elements(self) -> bool:
        """In every tensor."""
        return all(array.size for array in self.arrays())


_LETTERS = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bfloat": "bf"}


def dtype_text(dtype: Any) -> str:
    """As contracts spell it."""
    name = np.dtype(dtype).name
    kind = name.rstrip("0123456789")
    return _LETTERS[kind] + name[len(kind) :] if kind in _LETTERS and name != kind else name.replace("float8", "f8")


def describe(value: Any) -> str:
    if isinstance(value, np.ndarray):
        strides = "" if value.flags.c_contiguous else f" strides {tuple(s // value.itemsize for s in value.strides)}"
        return f"{dtype_text(value.dtype)}{list(value.shape)}{strides}"
    if isinstance(value, list):
        return f"[{', '.join(map(describe, value))}]"
    return repr(value) if isinstance(value, (str, float)) else str(value)


@dataclass(frozen=True)
class Finding:
    """Something that is wrong. text: what was expected and what came; call: the call that shows it; advice: what to do."""

    text: str
    call: str = ""
    advice: str = ""


@dataclass
class Result:
    """The outcome of one check of one op."""

    op: str
    check: str
    status: str  # passed, failed, skipped, allowed
    reason: str = ""  # of a skip, or of what the author allows
    seed: int = 0
    calls: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    ended: bool = False  # the process died or had to be ended

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Result:
        return cls(**{**data, "findings": [Finding(**each) for each in data["findings"]]})


class Skipped(Exception):
    """A check that has nothing to look at here; its text says why."""
