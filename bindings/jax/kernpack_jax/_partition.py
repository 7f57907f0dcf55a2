"""Splitting a call over the devices of a mesh whose axes XLA places (Auto): each device calls the kernel on its share."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import AbstractMesh, AxisType, NamedSharding

from . import _devices, _sharding
from ._arguments import Config
from ._tiles import make_tiles

_bind: Callable[..., list[Any]]


def set_bind(bind: Callable[..., list[Any]]) -> None:
    """Names what emits a call; this module is below the primitive."""
    global _bind
    _bind = bind


def is_needed(ctx: Any, config: Config) -> bool:
    """True if XLA's partitioner may split the program that is being lowered."""
    module = ctx.module_context
    if getattr(module.lowering_parameters, "for_export", False):
        return False  # the callback into this process cannot be exported
    axes = module.axis_context
    if manual := getattr(axes, "manual_axes", None):
        _refuse_gspmd(config, axes.mesh, manual)
        return False
    if (getattr(axes, "num_devices", None) or 1) == 1:
        return False
    if not _devices.are_known(axes):
        warn_of_gathering(
            config.function.full_name,
            f"jax {jax.__version__} doesn't say over which devices it splits the program, so this call gathers its arrays, and "
            "each device computes all of it. Call it inside jax.shard_map to split it, or install the newest kernpack "
            "(pip install -U kernpack)",
        )
        return False
    return True


@functools.cache
def warn_of_gathering(name: str, why: str) -> None:
    warnings.warn(f"{name}: {why}", RuntimeWarning, stacklevel=2)


def _refuse_gspmd(config: Config, mesh: Any, manual: frozenset[str]) -> None:
    """XLA's older partitioner ends the process where it meets a custom call and the mesh is partly manual."""
    partly = any(size > 1 and axis not in manual for axis, size in mesh.shape.items())
    if partly and not jax.config.jax_use_shardy_partitioner:  # type: ignore[attr-defined]
        raise NotImplementedError(
            f"{config.function.name}: shard_map over some axes of a mesh needs XLA's partitioner Shardy; turn it on with "
            "jax.config.update('jax_use_shardy_partitioner', True), or name all axes"
        )


@functools.lru_cache(maxsize=4096)
def partitioned(config: Config) -> Callable[..., list[Any]]:
    """The call as a function of arrays that XLA may have sharded in any way."""

    def call(*arrays: Any) -> list[Any]:
        return _bind(config, arrays, local=True)

    wrapped = custom_partitioning(call)
    wrapped.def_partition(
        partition=functools.partial(_partition, config),
        infer_sharding_from_operands=functools.partial(_infer, config),
        decode_shardings=False,  # make_tiles does it
        sharding_rule=functools.partial(_rule, config),
    )

    def named(*arrays: Any) -> list[Any]:
        with jax.named_scope(config.function.full_name):
            return wrapped(*arrays)

    return named


def _split(config: Config, mesh: Any, arguments: Sequence[Any], results: Sequence[Any]) -> _sharding.Split:
    return _sharding.choose(
        config,
        [a.shape for a in arguments],
        [make_tiles(a.sharding, len(a.shape), mesh) for a in arguments],
        [r.shape for r in results],
        [make_tiles(getattr(r, "sharding", None), len(r.shape), mesh) for r in results],
        dict(mesh.shape),
    )


def _named(mesh: Any, specs: Sequence[_sharding.Spec]) -> list[NamedSharding]:
    return [NamedSharding(mesh, _sharding.partition_spec(spec)) for spec in specs]


def _partition(config: Config, mesh: Any, arguments: Sequence[Any], results: Sequence[Any]) -> Any:
    split = _split(config, mesh, arguments, results)
    _warn_of_whole(config, mesh, arguments, split)

    def share(*arrays: Any) -> list[Any]:
        outputs = _bind(config, arrays, local=True)
        return [
            _added_up(output, axes) if partial and axes else output
            for output, axes, partial in zip(outputs, split.added, _sharding.summed(config), strict=True)
        ]

    return mesh, share, _named(mesh, split.outputs), tuple(_named(mesh, split.operands))


def _warn_of_whole(config: Config, mesh: Any, arguments: Sequence[Any], split: _sharding.Split) -> None:
    """Names the dims that are sharded, and that the call needs whole."""
    count = mesh.size
    for parameter, array, spec in zip(config.operands, arguments, split.operands, strict=True):
        rank = len(array.shape)
        given = make_tiles(array.sharding, rank, mesh)
        held = array.sharding.shard_shape((count,) * rank)
        for dim, (axes, kept) in enumerate(zip(given, spec, strict=True)):
            if held[dim] < count and (axes != kept or not axes):
                over = f" over {', '.join(axes)}" if axes else ""
                warn_of_gathering(
                    config.function.full_name,
                    f"{parameter.name} is sharded{over} in dim {dim} ({array.shape[dim]} elements), which the contract or the size "
                    "doesn't let the call split. Each device gathers that dim. Shard a dim that independent(...) names, or call the "
                    "function inside jax.shard_map",
                )


def _added_up(partial: Any, axes: _sharding.Axes) -> Any:
    if AxisType.Explicit not in jax.sharding.get_abstract_mesh().axis_types:
        return jax.lax.psum(partial, axes)
    # In the program's mesh, psum's addition would say how it is sharded, and XLA knows no such reduction.
    if not hasattr(jax.sharding, "use_abstract_mesh"):
        return jax.lax.all_gather(partial, axes).sum(0)
    with jax.sharding.use_abstract_mesh(AbstractMesh((), ())):
        return jax.lax.psum(partial, axes)


def _infer(config: Config, mesh: Any, arguments: Sequence[Any], results: Sequence[Any]) -> list[NamedSharding]:
    whole = [jax.ShapeDtypeStruct(r.shape, r.dtype) for r in results]
    return _named(mesh, _split(config, mesh, arguments, whole).outputs)


def _rule(config: Config, mesh: Any, operand_types: Sequence[Any], result_types: Sequence[Any]) -> Any:
    """Shardy's rule: dims of one factor are split alike; a factor of one dim only is whole."""
    del mesh
    independent = config.function.independent
    lone: list[str] = []
    sizes: dict[str, int] = {}

    def mapping(dims: Any, ranked: Any) -> str:
        names = []
        for name, size in zip(_sharding.factors(dims, len(ranked.shape), independent), ranked.shape, strict=True):
            if name is None or sizes.setdefault(name, size) != size:
                lone.append(f"whole{len(lone)}")
                names.append(lone[-1])
            else:
                names.append(name.replace("...", "batch"))
        return " ".join(names)

    operands = [mapping(parameter.tensor, kind) for parameter, kind in zip(config.operands, operand_types, strict=True)]
    results = [mapping(dims, kind) for dims, kind in zip(config.outputs, result_types, strict=True)]
    rule = f"{', '.join(operands)} -> {', '.join(results)}"
    if jax.__version_info__ < (0, 8):
        return rule  # more it does not take; _partition still has the operands made whole
    return rule, {"need_replication_factors": tuple(lone)}
