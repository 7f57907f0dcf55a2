"""The JAX primitive behind every function: `call_p.bind(*arrays, config=..., local=...)`.

Its outputs are the parameters written in place, as new values, then all results, aux ones included. `local` means that the
arrays are one device's share, so that nothing is left to partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.sharding import NamedSharding

from . import _abstract, _batching, _partition, _raw_call, _sharding, _shares, _varying
from ._arguments import Config

call_p = Primitive("kernpack_call")
call_p.multiple_results = True


def bind(config: Config, arrays: Sequence[Any], *, local: bool = False) -> list[Any]:
    """Emits the call where JAX is tracing, runs it where not."""
    if not config.outputs:
        return _raw_call.without_outputs(config, arrays)
    _partition.needs_devices(call_p)
    return call_p.bind(*_varying.alike(arrays), config=config, local=local)


@call_p.def_abstract_eval
def _abstract_eval(*avals: Any, config: Config, local: bool) -> list[Any]:
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
    """What the outputs' types say of a mesh whose axes are explicit; None where nothing is to be said."""
    shardings = [getattr(aval, "sharding", None) for aval in avals]
    specs = [_sharding.spec_of(s, len(a.shape)) for s, a in zip(shardings, avals, strict=True)]
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


@call_p.def_impl
def _impl(*arrays: Any, config: Config, local: bool) -> list[Any]:
    return jax.jit(lambda *given: call_p.bind(*given, config=config, local=local))(*arrays)


def _lower(ctx: Any, *operands: Any, config: Config, local: bool) -> Any:
    if local or not _partition.is_needed(ctx, config):
        return _raw_call.lower(ctx, operands, config)
    results = mlir.lower_fun(_partition.partitioned(config), multiple_results=True)(ctx, *operands)
    _shares.share_alike(ctx, results)
    return results


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, config: Config, local: bool) -> Any:
    function = config.function
    for parameter, tangent in zip(config.operands, tangents, strict=True):
        if isinstance(tangent, ad.Zero) or parameter.name in function.nondiff:
            continue
        how = (
            "it is differentiated in forward mode, or more often than its KP_GRADs go; kernels have reverse mode only"
            if function.backwards
            else f"the function has no gradient; declare one with KP_GRAD({function.name}, <its backward function>), list "
            f"'{parameter.name}' as nondiff, or use jax.lax.stop_gradient on the argument"
        )
        raise TypeError(f"{function.name}: {parameter.name}: cannot be differentiated: {how}")
    outputs = call_p.bind(*primals, config=config, local=local)
    return outputs, [ad.Zero(jax.typeof(output).to_tangent_aval()) for output in outputs]


mlir.register_lowering(call_p, _lower)
ad.primitive_jvps[call_p] = _jvp
batching.primitive_batchers[call_p] = _batching.rule(bind)
_partition.set_bind(bind)
_varying.register(call_p)
