"""The innermost layer: one XLA custom call. Every other layer (jit cache; later batching, sharding, gradients) wraps it."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from . import _abstract, _statics
from ._arguments import Config
from ._target import target_name


def raw_call(config: Config, arrays: Sequence[jax.Array]) -> tuple[jax.Array, ...]:
    """Emits the call. Gives the parameters written in place, as new values, then all results, aux ones included."""
    results, workspace = _abstract.results(config, arrays)
    mutated = _mutated_operands(config)
    outputs = [jax.ShapeDtypeStruct(arrays[index].shape, arrays[index].dtype) for index in mutated] + results
    if workspace is not None:
        outputs.append(jax.ShapeDtypeStruct((workspace,), np.uint8))
    call = jax.ffi.ffi_call(
        target_name(),
        outputs,
        has_side_effect=not outputs,  # else XLA would drop a call that gives nothing
        input_output_aliases={operand: position for position, operand in enumerate(mutated)},
    )
    given = call(*arrays, **_attributes(config))
    return tuple(given[: len(mutated) + len(results)])


def _mutated_operands(config: Config) -> list[int]:
    found: list[int] = []
    operand = 0
    for parameter, (tag, length) in zip(config.function.parameters, config.slots, strict=False):
        if tag not in ("tensor", "tensors"):
            continue
        if parameter.mutated:
            found += range(operand, operand + length)
        operand += length
    return found


def _attributes(config: Config) -> dict[str, object]:
    attributes: dict[str, object] = {"kp.fn": config.function.qualified_name}
    absent = []
    for parameter, slot in zip(config.function.parameters, config.slots, strict=False):
        if slot == _statics.NONE:
            absent.append(parameter.name)
        elif slot[0] == "tensors":
            attributes[parameter.name] = np.int64(slot[1])
        elif slot[0] != "tensor":
            name, value = _statics.attribute(parameter, slot)
            attributes[name] = value
    if absent:
        attributes["kp.none"] = ",".join(absent)
    return attributes
