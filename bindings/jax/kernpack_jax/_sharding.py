"""Which dims of a call may be split over devices: the contract's "..." dims, and those named by `independent`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
from kernpack._contract import TensorType

from ._arguments import Config

# One dim's entry in a PartitionSpec: the mesh axes that split it.
Axes = tuple[str, ...]
Spec = tuple[Axes, ...]


@dataclass(frozen=True)
class Split:
    """How a call is split: the specs of its operands and outputs, and for each output the axes over which, if it's a `sum`, its
    parts add up: those that split something it doesn't have."""

    operands: tuple[Spec, ...]
    outputs: tuple[Spec, ...]
    added: tuple[Axes, ...]


def factors(dims: TensorType, rank: int, independent: frozenset[str]) -> tuple[str | None, ...]:
    """For each dim the name of what splits together, or None for a dim that stays whole."""
    if dims.has_tuple:
        return (None,) * rank
    batch = rank - len(dims.terms)
    return tuple(f"...{i}" for i in range(batch)) + tuple(t if t in independent else None for t in dims.terms)


def choose(
    config: Config,
    shapes: Sequence[Sequence[Any]],
    specs: Sequence[Spec],
    output_shapes: Sequence[Sequence[Any]],
    output_specs: Sequence[Spec],
    mesh: Mapping[str, int],
) -> Split:
    """The split that keeps as much as it can of how the operands, and then the outputs, are sharded already.

    A dim that its axes do not divide evenly stays whole, and so does one over which a result without `sum` reduces.
    """
    independent = config.function.independent
    operand_dims = [parameter.tensor for parameter in config.operands]
    named = [factors(d, len(s), independent) for d, s in zip(operand_dims, shapes, strict=True) if d is not None]
    named_out = [factors(d, len(s), independent) for d, s in zip(config.outputs, output_shapes, strict=True)]
    chosen: dict[str, Axes] = {}
    used: set[str] = set()
    refused = _reduced_away(config, named, named_out)
    for names, shape, spec in (
        *zip(named, shapes, specs, strict=True),
        *zip(named_out, output_shapes, output_specs, strict=True),
    ):
        for name, size, axes in zip(names, shape, spec, strict=True):
            if name is None or name in chosen or name in refused or not axes or used.intersection(axes):
                continue
            if isinstance(size, int) and size % math.prod(mesh[axis] for axis in axes) == 0:
                chosen[name] = axes
                used.update(axes)
    return Split(
        tuple(_spec(names, shape, chosen) for names, shape in zip(named, shapes, strict=True)),
        tuple(_spec(names, shape, chosen) for names, shape in zip(named_out, output_shapes, strict=True)),
        tuple(tuple(a for name, axes in chosen.items() if name not in names for a in axes) for names in named_out),
    )


def _reduced_away(
    config: Config, named: Sequence[tuple[str | None, ...]], named_out: Sequence[tuple[str | None, ...]]
) -> set[str]:
    operand_names = {name for names in named for name in names if name}
    results = named_out[len(config.mutated) :]
    return {
        name
        for result, names in zip(config.function.results, results, strict=True)
        if not result.sum
        for name in operand_names.difference(name for name in names if name)
    }


def _spec(names: Sequence[str | None], shape: Sequence[Any], chosen: Mapping[str, Axes]) -> Spec:
    # A dim of size 1 is one that "~..." broadcasts, or one that there is nothing to split of.
    return tuple(chosen.get(name, ()) if name and size != 1 else () for name, size in zip(names, shape, strict=True))


def summed(config: Config) -> Iterator[bool]:
    """For each output whether partial ones add up."""
    yield from (False for _ in config.mutated)
    yield from (result.sum for result in config.function.results)


def make_spec(sharding: Any, rank: int) -> Spec:
    """A NamedSharding's spec, one tuple of axes a dim; all whole for any other sharding."""
    entries = getattr(sharding, "spec", None)
    if entries is None:
        return ((),) * rank
    found = [
        (entry,) if isinstance(entry, str) else tuple(entry) if isinstance(entry, tuple) else () for entry in entries
    ]
    return tuple(found[:rank]) + ((),) * (rank - len(found))


def partition_spec(spec: Spec) -> Any:
    """As JAX writes it."""
    from jax.sharding import PartitionSpec

    return PartitionSpec(*(None if not axes else axes[0] if len(axes) == 1 else axes for axes in spec))


def reshard(array: Any, sharding: Any) -> Any:
    """jax.sharding.reshard, from where this JAX has it."""
    if hasattr(jax.sharding, "reshard"):
        return jax.sharding.reshard(array, sharding)
    from jax.experimental.shard import reshard as experimental

    return experimental(array, sharding)
