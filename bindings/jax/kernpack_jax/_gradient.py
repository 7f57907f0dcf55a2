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

from . import _backwards, _devices, _forwards, _linear, _primitive
from ._arguments import Config
from ._step import Source, Step


def jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, config: Config, local: bool, aux: bool, needs: Any = None
) -> tuple[list[Any], list[Any]]:
    """JAX's rule of every function's primitive: the outputs, and how they move when the operands do."""
    del needs  # the calls below have their own
    moved = tuple(index for index, tangent in enumerate(tangents) if _moves(tangent))
    for index in moved:
        _check_may_move(config, index)
    parts = _parts(config, moved, aux)
    read = {index for _, sources in parts for kind, index in sources if kind == "result"}
    aux = aux or any(config.function.results[index].aux for index in read)
    outputs = _primitive.of(config.function).bind(*primals, config=config, local=local, aux=aux, **_devices.needed())
    types = tuple(jax.typeof(output).to_tangent_aval() for output in outputs)
    found: list[Any] = [ad.Zero(kind) for kind in types]
    known = _known(config, primals, outputs)
    operands = tuple(jax.typeof(primal) for primal in primals)
    for results, sources in parts:
        results = tuple(index for index in results if jnp.issubdtype(types[index].dtype, jnp.inexact))
        kept = {source: known[source] for source in sources if source in known}
        counts = tuple((source, len(arrays)) for source, arrays in kept.items())
        step = Step(config, moved, counts, operands, results, types)
        arrays = [array for group in kept.values() for array in group]
        moves = _linear.bind(step, [*arrays, *(tangents[index] for index in moved)]) if results else []
        for index, tangent in zip(results, moves, strict=True):
            found[index] = tangent
    return outputs, found


def _parts(config: Config, moved: Sequence[int], aux: bool) -> list[tuple[tuple[int, ...], list[Source]]]:
    """The results that move, and what their tangents and gradients are computed from.

    Those that KP_JVP leaves out, which only aux results can be, are a part of their own: an error where it is run forwards.
    """
    function = config.function
    if not moved:
        return []
    backwards, forwards = _backwards.reads(config, moved), _forwards.reads(function)
    read = [index for index, result in enumerate(function.results) if aux or not result.aux]
    given = tuple(index for index in read if function.tangent is None or _forwards.gives(function, index))
    rest = tuple(index for index in read if index not in given)
    return [(given, list(dict.fromkeys(backwards + forwards))), (rest, backwards)]


def _moves(tangent: Any) -> bool:
    return not isinstance(tangent, ad.Zero) and tangent.dtype != jax.dtypes.float0


def _known(config: Config, primals: Sequence[Any], outputs: Sequence[Any]) -> dict[tuple[str, int], list[Any]]:
    """The arrays that a step may keep, by their names in plans: all arrays of a parameter, and each result."""
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
        why = (
            f"{config.operands[config.mutated[0]].name} is written in place; use jax.lax.stop_gradient on the arguments"
        )
    elif not function.backwards and function.tangent is None:
        why = (
            f"the function has no gradient; declare one with KP_GRAD({function.name}, <its backward function>), for forward mode "
            f"with KP_JVP({function.name}, <its tangent function>), or {stop}"
        )
    else:
        return
    raise TypeError(f"{function.name}: {parameter.name}: cannot be differentiated: {why}")
