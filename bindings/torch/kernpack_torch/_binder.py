"""Python functions with a signature's own parameters, written as text: calling one binds as Python binds, and torch.compile can
read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._spec import Spec


def bind(spec: Spec, call: Callable[..., Any], call_out: Callable[..., Any]) -> Callable[..., Any]:
    """def rms_norm(x, weight, *, eps=…, out=None): call(x, weight, eps), or call_out(out, x, weight, eps)."""
    parameters: list[str] = []
    scope: dict[str, Any] = {"_call": call, "_call_out": call_out}
    for i, param in enumerate(spec.params):
        if i == spec.num_positional:
            parameters.append("*")
        if param.has_default:
            scope[f"_default_{i}"] = param.default
            parameters.append(f"{param.name}=_default_{i}")
        else:
            parameters.append(param.name)
    if spec.num_positional == len(spec.params):
        parameters.append("*")
    parameters.append("out=None")
    names = ", ".join(param.name for param in spec.params)
    body = f"    return _call({names}) if out is None else _call_out(out{', ' if names else ''}{names})"
    return _define(spec.name, f"def {spec.name}({', '.join(parameters)}):\n{body}\n", scope)


def forward_to(spec: Spec, op: Any, with_results: bool = False) -> Callable[..., Any]:
    """A function of one value a parameter (and result) that calls `op`, keyword-only ones by keyword."""
    names = [param.name for param in spec.params]
    positional, keywords = names[: spec.num_positional], names[spec.num_positional :]
    if with_results:
        keywords = keywords + [result.name for result in spec.results]
        names = names + [result.name for result in spec.results]
    given = ", ".join(positional + [f"{name}={name}" for name in keywords])
    return _define(spec.name, f"def {spec.name}({', '.join(names)}):\n    return _op({given})\n", {"_op": op})


def _define(name: str, source: str, scope: dict[str, Any]) -> Callable[..., Any]:
    exec(compile(source, f"<kernpack {name}>", "exec"), scope)
    function: Callable[..., Any] = scope[name]
    return function
