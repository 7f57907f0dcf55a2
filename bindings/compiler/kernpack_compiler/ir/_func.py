"""@ir.func: a Python function that writes an IR function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from kernpack_compiler._native import Target
from kernpack_compiler._native import ir as _ir


def func(
    header: str,
    *,
    name: str | None = None,
    private: bool = False,
    target: Target | str | None = None,
    signature: str = "",
    grad: str | _ir.PrimFunc = "",
) -> Callable[[Callable[..., None]], _ir.PrimFunc]:
    """Makes a PrimFunc of the decorated function, by running it once.

    header: "(x: f32[N, D], cache!: i32[N], k: f32) -> (out: f32[N, D])", in the text form. A name that is an
        extent by itself is bound by that tensor. The parameters of the Python function name the parameters, results and
        extents that it uses.
    private: only other functions of the module can call it.
    target: the function's target, if it differs from the module's.
    signature: its contract, if it differs from the header ("x: T[..., D]"); by default derived from the header.
    grad: the function of the module that computes its gradient: (d_out, ..., x, ...) -> (d_x, ...).

    ValueError or TypeError for an invalid header or body.
    """
    if not isinstance(header, str):
        raise TypeError(
            f"ir.func: expected a header such as '(x: f32[N]) -> (out: f32[N])', got {type(header).__name__}"
        )

    def decorate(body: Callable[..., Any]) -> _ir.PrimFunc:
        chosen = _get_name(body) if name is None else name
        tracer = _ir.Tracer(chosen, header)
        for_target = "" if target is None else str(Target(target))
        gradient = grad.name if isinstance(grad, _ir.PrimFunc) else grad
        tracer.set(private, for_target, signature, gradient)
        arguments = _chosen(body, tracer.arguments)
        tracer.begin()
        try:
            given = body(**arguments)
            if given is not None:
                raise TypeError(
                    f"ir.func: {chosen}: expected the body to return None, got {type(given).__name__}; the body "
                    "runs once and writes its results with `out[i] = ...`"
                )
        except BaseException:
            tracer.abandon()
            raise
        return tracer.end()

    return decorate


def _get_name(body: Any) -> str:
    if not callable(body):
        raise TypeError(f"ir.func: expected a function to run, got {type(body).__name__}")
    name: str = getattr(body, "__name__", "")
    if not name.isidentifier():
        raise ValueError(f"ir.func: '{name or body}' isn't a valid function name; pass name=")
    return name


def _chosen(body: Callable[..., None], known: dict[str, Any]) -> dict[str, Any]:
    """The values that the body requests by the names of its parameters."""
    chosen = {}
    for name, parameter in inspect.signature(body).parameters.items():
        if name in known:
            chosen[name] = known[name]
        elif parameter.default is inspect.Parameter.empty:
            raise TypeError(f"ir.func: {body.__name__}: '{name}' is not in its header; there are {', '.join(known)}")
    return chosen


def call(function: _ir.PrimFunc | str, *arguments: _ir.Buffer | _ir.Expr | float) -> None:
    """Calls a function of the same module with its parameters in order, then the buffers for its results."""
    _ir.call(function.name if isinstance(function, _ir.PrimFunc) else function, *arguments)
