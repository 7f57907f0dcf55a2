"""The innermost layer: one XLA custom call. Every other layer (gradients, batching, sharding) wraps it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from . import _abstract, _statics
from ._arguments import Config
from ._target import EXPORTED, target_name


def lower(ctx: Any, operands: Sequence[Any], config: Config) -> Sequence[Any]:
    """Emits the call into the program that is being lowered. Gives new values, then all results."""
    _, workspace = _abstract.results(config, ctx.avals_in)
    avals_out = list(ctx.avals_out)
    if workspace is not None:
        avals_out.append(jax.core.ShapedArray((workspace,), np.uint8))
    exported = getattr(ctx.module_context.lowering_parameters, "for_export", False)
    registered = target_name()
    rule = jax.ffi.ffi_lowering(
        EXPORTED if exported else registered,
        operand_output_aliases={operand: position for position, operand in enumerate(config.mutated)},
    )
    outputs = rule(ctx.replace(avals_out=avals_out), *operands, **attributes(config, exported=exported))
    return list(outputs)[: len(ctx.avals_out)]


def without_outputs(config: Config, arrays: Sequence[Any]) -> list[Any]:
    """A call that gives nothing: kept in the program for what it does."""
    _abstract.results(config, arrays)
    call = jax.ffi.ffi_call(target_name(), (), has_side_effect=True, vmap_method="sequential")
    with jax.named_scope(config.function.full_name):
        call(*arrays, **attributes(config))
    return []


def attributes(config: Config, *, exported: bool = False) -> dict[str, object]:
    """The attributes that the handler reads (ffi/src/guests/xla/attributes.h)."""
    function = config.function
    found: dict[str, object] = {"kp.fn": function.exported_name if exported else function.qualified_name}
    absent = []
    for parameter, slot in zip(config.function.parameters, config.slots, strict=True):
        if slot == _statics.NONE:
            absent.append(parameter.name)
        elif slot[0] == "tensors":
            found[_passed_on(parameter.name)] = np.int64(slot[1])
        elif slot[0] != "tensor":
            name, value = _statics.attribute(parameter, slot)
            found[_passed_on(name)] = value
    if absent:
        found["kp.none"] = ",".join(absent)
    return found


@functools.cache
def taken_names() -> frozenset[str]:
    """The parameters of JAX's functions that take attributes as keywords."""
    functions = (jax.ffi.ffi_lowering("kernpack"), jax.ffi.ffi_call("kernpack", ()))
    return frozenset(["ctx"]).union(*(inspect.signature(function).parameters for function in functions))


def _passed_on(name: str) -> str:
    return f"kp.arg.{name}" if name in taken_names() else name
