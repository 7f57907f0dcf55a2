"""DTensor's sharding rule of each operator: along the "..." dims and those the signature calls independent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernpack._contract import Contract, TensorType
from kernpack._private.torch import names
from torch.distributed.tensor import Partial, Replicate, Shard
from torch.distributed.tensor.experimental import register_sharding


def declare(function: Any) -> None:
    strategies = names.sharding_strategies()
    op = function.op
    register_sharding(op)(_rule(function))
    if function.contract.mutates:
        strategies[op] = _in_place(function.contract, strategies[op])
    if function.out is not None:
        register_sharding(function.out)(_no_destinations(function.name))


def _no_destinations(name: str) -> Callable[..., Any]:
    def rule(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name}: out: a DTensor cannot be a destination; omit out= and use what it returns")

    return rule


def _in_place(contract: Contract, strategy: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The strategy without the layouts that what is written to does not have already: DTensor would lay out a copy anew, let the
    kernel write to that, and drop it."""

    def kept(schema: Any) -> Any:
        ways = strategy(schema)
        own = [argument.strategies[0].output_spec.placements for argument in schema.args_strategy]
        for name, at in _written(contract, schema.args_schema):
            layouts = dict.fromkeys(way.input_specs[at].placements for way in ways.strategies)
            ways.strategies = [way for way in ways.strategies if way.input_specs[at].placements == own[at]]
            if not ways.strategies:
                raise ValueError(
                    f"{contract.name}: {name}: is written in place, so its layout stays as it is; expected "
                    f"{' or '.join(map(str, layouts))}, got {own[at]}: call redistribute on it first"
                )
        return ways

    return kept


def _written(contract: Contract, values: Any) -> list[tuple[str, int]]:
    """The tensors that are written to: the parameter's name, and the place in a row of all tensors, lists opened."""
    found = []
    place = 0
    for param, value in zip(contract.parameters, values, strict=False):
        if param.is_tensor and value is not None:
            count = len(value.children) if param.is_list and hasattr(value, "children") else int(not param.is_list)
            found += [(param.name, place + i) for i in range(count) if param.mutated]
            place += count
    return found


def _rule(function: Any) -> Any:
    contract: Contract = function.contract

    def rule(*args: Any, **kwargs: Any) -> list[tuple[list[Any], list[Any]]]:
        """Ways to lay out one mesh dim: (placements of the results, placements of the positional arguments, lists opened)."""
        call = _Call(contract, args)
        ways = [call.way(lambda form, rank, sizes: Replicate())]
        ways += [way for dim in range(call.batch_rank) if (way := call.batch_way(dim)) is not None]
        ways += [call.independent_way(name) for name in contract.independent]
        return ways

    return rule


class _Call:
    """The layouts of one call. `values`: DTensor's descriptions of the tensors, with `shape`."""

    def __init__(self, contract: Contract, values: Any) -> None:
        self.contract = contract
        self.values = values
        self.batch_rank = 0
        for param, value in zip(contract.parameters, values, strict=False):
            if param.tensor is not None and param.tensor.batch == "..." and value is not None:
                first = value[0] if param.is_list and len(value) else value
                self.batch_rank = len(first.shape) - len(param.tensor.terms)
                break

    def way(self, place: Any) -> tuple[list[Any], list[Any]]:
        arguments: list[Any] = []
        for param, value in zip(self.contract.parameters, self.values, strict=False):
            if param.tensor is None or value is None:
                arguments.append(None)
            else:
                items = value if param.is_list else (value,)
                arguments += [place(param.tensor, len(item.shape), item.shape) for item in items]
        results = [
            place(r.tensor, len(r.tensor.terms) + (self.batch_rank if r.tensor.batch else 0), None)
            for r in self.contract.results
        ]
        return results, arguments

    def batch_way(self, dim: int) -> tuple[list[Any], list[Any]] | None:
        """Split along one of the "..." dims; None where a result is neither split nor a sum."""

        def place(form: TensorType, rank: int, sizes: Any) -> Any:
            split = form.batch == "..." or (form.batch == "~..." and sizes[dim] != 1)
            return Shard(dim) if split else Replicate()

        results, arguments = self.way(place)
        for i, result in enumerate(self.contract.results):
            if result.tensor.batch is None:
                if not result.sum:
                    return None
                results[i] = Partial()
        return results, arguments

    def independent_way(self, name: str) -> tuple[list[Any], list[Any]]:
        """Split where the dim stands."""

        def place(form: TensorType, rank: int, sizes: Any) -> Any:
            return Shard(rank - len(form.terms) + form.terms.index(name)) if name in form.terms else Replicate()

        return self.way(place)
