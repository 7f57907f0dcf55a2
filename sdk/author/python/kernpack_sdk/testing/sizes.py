"""Sizes that fit a contract: what its dims, batch and int parameters may be, found by moving those that break a condition."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kernpack import DType
from kernpack._contract import Contract, Parameter, TensorType
from kernpack._domain import NUMBERS
from kernpack._expression import Expression, Value

_STEPS = 60  # until a set of sizes is given up


@dataclass
class Sizes:
    """One choice. present: the tensors that are given; free: what may be moved so that the conditions hold."""

    contract: Contract
    present: frozenset[str]
    dims: dict[str, int] = field(default_factory=dict)
    ints: dict[str, int] = field(default_factory=dict)
    batch: tuple[int, ...] = ()
    tuples: dict[str, tuple[int, ...]] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    domain = NUMBERS

    # -------------------------------------------------------------- what expressions name

    # "stride[0]" is a key of `ints` like any name of an int parameter.
    def get_value(self, name: str) -> int | None:
        return self.dims[name] if name in self.dims else self.ints.get(name)

    def numel(self, parameter: str) -> int:
        tensor = next(each.tensor for each in self.contract.parameters if each.name == parameter)
        shape = self.shape(tensor) if tensor is not None and parameter in self.present else None
        return 1 if shape is None else math.prod(shape)

    def itemsize(self, variable: str) -> int:
        return DType(self.dtypes[variable]).itemsize if variable in self.dtypes else 0

    # -------------------------------------------------------------- shapes

    def shape(
        self, tensor: TensorType, any_size: int = 3, near: tuple[int, ...] | None = None
    ) -> tuple[int, ...] | None:
        """None: an expression in it has no value. near: what "~..." is, if not the batch."""
        shape: list[int] = []
        if tensor.batch is not None:
            shape += self.batch if near is None or tensor.batch == "..." else near
        for op, operand in tensor.dims:
            if op == "tuple":
                shape += self.tuples[operand]
                continue
            size = self._size(op, operand, any_size)
            if size is None or size < 0:
                return None
            shape.append(size)
        return tuple(shape)

    def _size(self, op: str, operand: Any, any_size: int) -> int | None:
        if op == "any":
            return any_size
        if op == "const":
            return int(operand)
        if op == "code":
            status, size = operand.evaluate(self)
            return int(size) if status is Value.OK else None
        return self.get_value(operand)

    # -------------------------------------------------------------- what is wrong with it

    def broken(self, largest: int) -> list[tuple[str, ...]]:
        """For each condition that does not hold: the names that could change that."""
        found = []
        for condition in self.contract.where:
            status, holds = condition.evaluate(self)
            if status is not Value.UNBOUND and not holds:
                found.append(tuple(name for operand in condition.operands for name in operand.names))
        given = [each.tensor for each in self.contract.parameters if each.tensor and each.name in self.present]
        for tensor in (*given, *(result.tensor for result in self.contract.results)):
            shape = self.shape(tensor)
            if shape is None or math.prod(shape) > largest:
                found.append(tuple(_names(tensor)))
        workspace = self.contract.workspace
        if workspace is not None:
            status, size = workspace.size.evaluate(self)
            if status is not Value.OK or size < 0:
                found.append(tuple(workspace.size.names))
        return found

    def repaired(self, rng: random.Random, largest: int, fixed: frozenset[str] = frozenset()) -> bool:
        """Moves sizes until nothing is broken; False: none were found. fixed: names that stay."""
        if self._is_hopeless(fixed):
            return False
        pool = sorted({*_constants(self.contract), 0, 1, 2, 3, 4, 8, 16, 32, 64, 128})
        for _ in range(_STEPS):
            broken = self.broken(largest)
            if not broken:
                return True
            names = [
                name for name in dict.fromkeys(itertools.chain(*broken)) if self._movable(name) and name not in fixed
            ]
            if not names:
                return False
            trials = [(name, size) for name in names for size in self._candidates(name, pool)]
            rng.shuffle(trials)
            if rng.random() < 0.15:
                self._set(*trials[0])
                continue
            self._set(*min(trials, key=lambda trial: self._score(trial[0], trial[1], largest)))
        return not self.broken(largest)

    def _is_hopeless(self, fixed: frozenset[str]) -> bool:
        """True if a condition fails none of whose sizes can be changed."""
        for condition in self.contract.where:
            names = {name for operand in condition.operands for name in operand.names}
            if not any(self._movable(name) and name not in fixed for name in names):
                status, holds = condition.evaluate(self)
                if status is not Value.UNBOUND and not holds:
                    return True
        return False

    def _movable(self, name: str) -> bool:
        return name in self.dims or name in self.ints

    def _set(self, name: str, size: int) -> None:
        (self.dims if name in self.dims else self.ints)[name] = size

    def _score(self, name: str, size: int, largest: int) -> float:
        before = self.get_value(name)
        assert before is not None
        self._set(name, size)
        # Of two that mend as much, the one that changes less; zero, which says little, last.
        score = len(self.broken(largest)) + min(abs(size - before), 1000) / 1e4 + (0.2 if size == 0 else 0.0)
        self._set(name, before)
        return score

    def _candidates(self, name: str, pool: list[int]) -> set[int]:
        """The constants of the contract, and what its expressions are now, a little more or less, and multiples."""
        found = set(pool)
        for condition in self.contract.where:
            for operand in condition.operands:
                status, value = operand.evaluate(self)
                if status is Value.OK:
                    found |= {value - 1, value, value + 1, *(value * k for k in (2, 3, 4)), value // 2}
        others = [
            size for other, size in (*self.dims.items(), *self.ints.items()) if other != name and 0 < size <= 4096
        ]
        found |= {size * k for size in others for k in (1, 2, 3)}
        found |= {a * b for a, b in itertools.combinations(others, 2)}
        least = 0 if name in self.dims else -8
        return {size for size in found if least <= size <= 1 << 20}


def _names(tensor: TensorType) -> Iterator[str]:
    for op, operand in tensor.dims:
        if op in ("var", "int"):
            yield operand
        elif op == "code":
            yield from operand.names


def all_tensors(contract: Contract) -> list[TensorType]:
    """The types of all tensors, of parameters and results."""
    return [each.tensor for each in contract.parameters if each.tensor] + [each.tensor for each in contract.results]


def _constants(contract: Contract) -> Iterator[int]:
    expressions: list[Expression] = [operand for condition in contract.where for operand in condition.operands]
    expressions += [operand for tensor in all_tensors(contract) for op, operand in tensor.dims if op == "code"]
    for expression in expressions:
        for op, operand in expression.code:
            if op == "const" and 0 <= operand < 1 << 16:
                yield from (operand, operand + 1, 2 * operand, 3 * operand)
    for parameter in contract.parameters:
        if parameter.kind == "int" and isinstance(parameter.default, int):
            yield parameter.default


def bound_names(contract: Contract, present: frozenset[str]) -> tuple[list[str], list[str]]:
    """The dims and the tuples that the given tensors bind, in the order of the contract."""
    dims: dict[str, None] = {}
    tuples: dict[str, None] = {}
    for parameter in contract.parameters:
        if parameter.tensor is not None and parameter.name in present:
            dims |= {operand: None for op, operand in parameter.tensor.dims if op == "var"}
            tuples |= {operand: None for op, operand in parameter.tensor.dims if op == "tuple"}
    return list(dims), list(tuples)


def int_parameters(contract: Contract) -> list[Parameter]:
    return [each for each in contract.parameters if each.kind == "int" and not each.is_list]


def item_names(contract: Contract, parameter: str) -> list[str]:
    """ "stride[0]", "stride[1]": the items that a list of ints has to have."""
    return [f"{parameter}[{i}]" for i in range(contract.least_items.get(parameter, 0))]


def has_batch(contract: Contract, present: Mapping[str, Any] | frozenset[str]) -> bool:
    return any(each.tensor and each.tensor.batch == "..." and each.name in present for each in contract.parameters)
