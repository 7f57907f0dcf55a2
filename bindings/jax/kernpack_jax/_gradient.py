"""How a call is differentiated: the call itself, and beside it a step that is linear in what moves (_linear).

JAX runs that step forwards (jax.jvp) or backwards (jax.grad); this module says which arguments may move at all, and what of the
call each direction reads. A step keeps that and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.interpreters import ad

from . import _linear, _primitive
from ._arguments import Config
from ._step import Step


def jvp(primals: Sequence[Any], tangents: Sequence[Any], *, config: Config, local: bool) -> tuple[list[Any], list[Any]]:
    """JAX's rule of every function's primitive: the outputs, and how they move when the operands do."""
    outputs = _primitive.of(config.function).bind(*primals, config=config, local=local)
    types = [jax.typeof(output).to_tangent_aval() for output in outputs]
    found: list[Any] = [ad.Zero(kind) for kind in types]
    moved = tuple(index for index, tangent in enumerate(tangents) if _moves(tangent))
    if not moved:
        return outputs, found
    for index in moved:
        _check_may_move(config, index)
    results = tuple(index for index, kind in enumerate(types) if jnp.issubdtype(kind.dtype, jnp.inexact))
    known = _known(config, primals, outputs)
    kept = {key: known[key] for key in _linear.read_by(config, moved) if key in known}
    step = Step(
        config=config,
        moved=moved,
        kept=tuple((key, len(arrays)) for key, arrays in kept.items()),
        operands=tuple(jax.typeof(primal) for primal in primals),
        results=results,
        types=tuple(types[index] for index in results),
    )
    arrays = [array for group in kept.values() for array in group]
    moves = _linear.bind(step, [*arrays, *(tangents[index] for index in moved)])
    for index, tangent in zip(results, moves, strict=True):
        found[index] = tangent
    return outputs, found


def _moves(tangent: Any) -> bool:
    return not isinstance(tangent, ad.Zero) and tangent.dtype != jax.dtypes.float0


def _known(config: Config, primals: Sequence[Any], outputs: Sequence[Any]) -> dict[tuple[str, int], list[Any]]:
    """What a step may keep, by what the plans call it: all arrays of a parameter, and each result."""
    known: dict[tuple[str, int], list[Any]] = {}
    for owner, primal in zip(config.owners, primals, strict=True):
        known.setdefault(("param", owner), []).append(primal)
    for index, output in enumerate(outputs):
        known[("result", index)] = [output]
    return known


def _check_may_move(config: Config, operand: int) -> None:
    function, parameter = config.function, config.operands[operand]
    stop = "use jax.lax.stop_gradient on the argument"
    if parameter.name in function.nondiff:
        why = f"the signature says nondiff({parameter.name}); {stop}"
    elif config.mutated:
        why = f"{config.operands[config.mutated[0]].name} is written in place; use jax.lax.stop_gradient on the arguments"
    elif not function.backwards and not function.tangents:
        why = (
            f"the function has no gradient; declare one with KP_GRAD({function.name}, <its backward function>), or {stop}"
        )
    else:
        return
    raise TypeError(f"{function.name}: {parameter.name}: cannot be differentiated: {why}")
