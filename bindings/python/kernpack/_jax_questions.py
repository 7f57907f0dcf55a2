"""Tells the call core if JAX is tracing, for calls without an array. An array itself shows if it is traced."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable
from typing import Any

from kernpack import _core
from kernpack._imports import when_imported
from kernpack._system import WINDOWS


def bring_in_jax() -> None:
    """Imports kernpack.jax, which registers JAX's path."""
    if WINDOWS:
        raise NotImplementedError(
            "Kernpack doesn't support JAX on Windows yet; pass NumPy arrays (numpy.asarray(x)) or torch tensors, or use Linux"
        )
    if "kernpack.jax" not in sys.modules:
        importlib.import_module("kernpack.jax")


def watch_jax() -> None:
    """Once JAX is imported, the call core asks."""
    when_imported("jax", lambda: _core.jax_tracing(_asker()))


def _asker() -> Callable[[], bool]:
    state: Any = None
    outside: Any = None

    def is_tracing() -> bool:
        nonlocal state, outside
        jax: Any = sys.modules["jax"]
        if state is None:
            state = _find_state(jax)
            outside = _in_new_thread(state)
        # Under jax.disable_jit, nobody can tell which calls jax.jit encloses.
        traces = bool(state(convention="flax") != outside) or jax.config.jax_disable_jit
        if traces:
            bring_in_jax()
        return traces

    return is_tracing


def _find_state(jax: Any) -> Callable[..., Any]:
    """The function that tells programs being traced apart, from where this JAX has it."""
    extended = importlib.import_module("jax.extend.core")
    found: Callable[..., Any] = getattr(extended, "get_opaque_trace_state", None) or jax.core.get_opaque_trace_state
    return found


def _in_new_thread(state: Callable[..., Any]) -> Any:
    """The state where nothing is traced; in this thread, something may be."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(state(convention="flax")))
    thread.start()
    thread.join()
    return found[0]
