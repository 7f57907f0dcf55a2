"""Computes the results of a call without running it; sizes may be symbols. It is used for traced calls only. Calls with real memory are
checked by the contract's compiled form, whose errors have the same words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from kernpack import Device, DType
from kernpack._contract import Contract, Parameter
from kernpack._domain import RELATIONS, Domain, Tensor
from kernpack._solve import Solution

from . import _dtypes


def results(contract: Contract, values: Sequence[Any]) -> list[torch.Tensor]:
    """Empty tensors like the results. TypeError and ValueError as the call itself would raise them."""
    solution, device = _solved(contract, values)
    found = []
    for index in range(len(contract.results)):
        shape, dtype = solution.result(index)
        found.append(torch.empty(shape, dtype=_dtypes.of_name(dtype), device=device))
    return found


def check_destinations(contract: Contract, values: Sequence[Any], destinations: Sequence[torch.Tensor]) -> None:
    """That results may be written to these tensors."""
    solution, device = _solved(contract, values)
    place = solution.device if device == "meta" else None
    for index, destination in enumerate(destinations):
        where = f"{contract.name}: {contract.results[index].name}"
        solution.check_destination(index, _tensor(where, destination, False, place))


def _solved(contract: Contract, values: Sequence[Any]) -> tuple[Solution, str]:
    """And where the results are. Tensors on "meta" stand for some where the function runs."""
    meta = any(map(_is_meta, values))
    place = (contract.on or "cpu") if meta else None
    arguments = [
        _argument(contract.name, each, value, place) for each, value in zip(contract.parameters, values, strict=True)
    ]
    solution = Solution(contract, arguments, SYMBOLS)
    return solution, "meta" if meta else solution.device or "cpu"


def _is_meta(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_is_meta, value))
    return isinstance(value, torch.Tensor) and value.device.type == "meta"


def _argument(function: str, parameter: Parameter, value: Any, place: str | None) -> Any:
    if isinstance(value, (list, tuple)):
        return [_argument(function, parameter, item, place) for item in value]
    if isinstance(value, torch.Tensor):
        where = f"{function}: {parameter.name}"
        return _tensor(where, value, parameter.strided, "cpu" if place and parameter.on_cpu else place)
    if parameter.kind == "dtype" and value is not None:
        return DType(value)
    return Device(value) if isinstance(value, torch.device) else value


def _tensor(where: str, tensor: torch.Tensor, strided: bool, place: str | None) -> Tensor:
    device = tensor.device
    return Tensor(
        tuple(tensor.shape),
        _dtypes.of_tensor(where, tensor.dtype),
        place or ("cpu" if device.type == "cpu" else f"{device.type}:{device.index or 0}"),
        None if strided or tensor.is_contiguous() else tuple(tensor.stride()),
    )


def _symbolic_shapes() -> Any:
    """Imported where there is a symbol: by then torch has. It brings SymPy, which takes seconds."""
    from torch.fx.experimental import symbolic_shapes

    return symbolic_shapes


class _Symbols(Domain):
    """torch's symbols for numbers. What they are compared with becomes a condition of the traced program; of those that nobody knows
    before it runs, what must be equal is taken to be, and checked then."""

    def type_name(self, value: Any) -> str:
        return _TYPE_NAMES.get(type(value)) or super().type_name(value)

    def same(self, a: Any, b: Any) -> bool:
        equal = a == b
        known = _decided(equal)
        if known is None:
            torch._check(equal)
        return known is not False

    def same_or_one(self, size: Any, wanted: Any) -> bool:
        one, equal = size == 1, size == wanted
        is_one = _decided(one)
        is_equal = is_one or _decided(equal)
        if is_equal or (is_one is False and is_equal is False):
            return is_equal
        torch._check(_symbolic_shapes().sym_or(one, equal))
        return True

    def holds(self, relation: str, a: Any, b: Any) -> bool:
        return _decided(RELATIONS[relation](a, b)) is not False

    def minimum(self, a: Any, b: Any) -> Any:
        return torch.sym_min(a, b)

    def maximum(self, a: Any, b: Any) -> Any:
        return torch.sym_max(a, b)


SYMBOLS = _Symbols()
_TYPE_NAMES: dict[type, str] = {torch.SymInt: "int", torch.SymFloat: "float", torch.SymBool: "bool"}


def _decided(answer: Any) -> bool | None:
    """A comparison's answer; None where only the run of the program can tell."""
    if isinstance(answer, bool):
        return answer
    try:
        return bool(answer)
    except _symbolic_shapes().GuardOnDataDependentSymNode:
        return None
