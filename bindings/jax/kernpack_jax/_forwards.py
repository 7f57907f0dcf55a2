"""Forward mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._arguments import Config
from ._step import Source, Step


def reads(config: Config) -> list[Source]:
    """What the tangent function is called with."""
    del config
    return []


def run(step: Step, saved: Mapping[Source, Sequence[Any]], tangents: Mapping[int, Any]) -> list[Any]:
    """The tangents of the results."""
    del saved, tangents
    function = step.config.function
    raise TypeError(
        f"{function.name}: cannot be differentiated in forward mode (jax.jvp, jax.jacfwd, jax.hessian): its module declares no "
        f"KP_JVP({function.name}, <its tangent function>); declare one, or use reverse mode (jax.grad, jax.vjp, jax.jacrev)"
    )
