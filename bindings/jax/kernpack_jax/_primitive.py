"""One JAX primitive a function, with its name: `of(function).bind(*arrays, config=..., local=..., aux=..., **_devices.needed())`.

Its outputs are the parameters written in place, as new values, then all results, aux ones included. `local` means that the
arrays are one device's share, so that nothing is left to partition; `aux` that somebody reads the aux results; `needs` has JAX say for which devices it lowers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.sharding import NamedSharding
from kernpack._private.jax import shares

from . import _abstract, _batching, _devices, _partition, _raw_call, _run, _sharding, _varying
from ._arguments import Config
from ._function import Function

_jvp: Callable[..., Any]


def set_jvp(rule: Callable[..., Any]) -> None:
    """Names what differentiates a call; that module is above this one."""
    global _jvp
    _jvp = rule


@functools.cache
def of(function: Function) -> Primitive:
    """The function's primitive. Jaxprs, HLO and profiles show its name."""
    found = Primitive(function.full_name)
    found.multiple_results = True
    found.def_abstract_eval(_abstract_eval)
    found.def_impl(functools.partial(_run.compiled, found, function.name))
    mlir.register_lowering(found, _lower)
    ad.primitive_jvps[found] = lambda *given, **params: _jvp(*given, **params)
    batching.primitive_batchers[found] = _batching.rule(bind)
    _varying.register(found)
    return found


def bind(config: Config, arrays: Sequence[Any], *, local: bool = False, aux: bool = True) -> list[Any]:
    """Emits the call where JAX is tracing, runs it where not."""
    if not config.outputs:
        return _raw_call.without_outputs(config, arrays)
    return of(config.function).bind(*_varying.alike(arrays), config=config, local=local, aux=aux, **_devices.needed())


def _abstract_eval(*avals: Any, config: Config, local: bool, aux: bool, needs: Any = None) -> list[Any]:
    del aux, needs
    results, _ = _abstract.results(config, avals)
    described = [avals[index] for index in config.mutated] + list(results)
    if not avals:
        return [jax.core.ShapedArray(d.shape, d.dtype) for d in described]
    shardings = _explicit(config, avals, described) if not local else None
    return [
        avals[0].update(shape=d.shape, dtype=d.dtype, weak_type=False, sharding=shardings and shardings[index])
        if shardings
        else _plain(avals[0], d)
        for index, d in enumerate(described)
    ]


def _plain(aval: Any, described: Any) -> Any:
    sharding = getattr(aval, "sharding", None)
    if sharding is None:
        return aval.update(shape=described.shape, dtype=described.dtype, weak_type=False)
    spec = _sharding.partition_spec(((),) * len(described.shape))
    whole = NamedSharding(sharding.mesh, spec)
    return aval.update(shape=described.shape, dtype=described.dtype, weak_type=False, sharding=whole)


def _explicit(config: Config, avals: Sequence[Any], described: Sequence[Any]) -> list[Any] | None:
    """The shardings in the types of the outputs, for a mesh with explicit axes; None if there are none."""
    shardings = [getattr(aval, "sharding", None) for aval in avals]
    specs = [_sharding.make_spec(s, len(a.shape)) for s, a in zip(shardings, avals, strict=True)]
    if not any(axes for spec in specs for axes in spec):
        return None
    mesh = next(s.mesh for s, spec in zip(shardings, specs, strict=True) if s is not None and any(spec))
    split = _sharding.choose(
        config,
        [aval.shape for aval in avals],
        specs,
        [d.shape for d in described],
        [((),) * len(d.shape) for d in described],
        dict(mesh.shape),
    )
    return [NamedSharding(mesh, _sharding.partition_spec(spec)) for spec in split.outputs]


def _lower(ctx: Any, *operands: Any, config: Config, local: bool, aux: bool, needs: Any = None) -> Any:
    del aux, needs
    if local or not operands or not _partition.is_needed(ctx, config):
        return _raw_call.lower(ctx, operands, config)
    results = mlir.lower_fun(_partition.partitioned(config), multiple_results=True)(ctx, *operands)
    shares.share_alike(ctx, results)
    return results


_partition.set_bind(bind)
