"""Python functions with a signature's own parameters, written as text: calling one binds as Python binds, costs no loop over the
parameters, and torch.compile can read it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ._spec import Param, Spec


def bind(
    spec: Spec,
    call: Callable[..., Any],
    call_out: Callable[..., Any],
    shortcut: str = "",
    keywords: bool = False,
    **names: Any,
) -> Callable[..., Any]:
    """def rms_norm(x, weight, *, eps=…, out=None): call(x, weight, eps), or call_out(out, x, weight, eps).

    shortcut: statements of the function that come first, and may return; they see the parameters, `out` and `names`.
    keywords: call(x, weight, eps=eps), as operators want it.
    """
    scope: dict[str, Any] = {"_call": call, "_call_out": call_out, **names}
    parameters: list[str] = []
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
    given = ", ".join(param.name for param in spec.params)
    called = arguments(spec, [param.name for param in spec.params]) if keywords else given
    body = f"{shortcut}return _call({called}) if out is None else _call_out(out, {given})"
    return _named(spec.name, [*parameters, "out=None"], body, scope)


def forward_to(spec: Spec, op: Any, with_results: bool = False) -> Callable[..., Any]:
    """A function of one value a parameter (and result) that calls `op`, keyword-only ones by keyword."""
    names = [param.name for param in spec.params]
    results = [result.name for result in spec.results] if with_results else []
    parts = [arguments(spec, names), *(f"{name}={name}" for name in results)]
    given = ", ".join(part for part in parts if part)  # there may be no parameters
    return _named(spec.name, names + results, f"return _op({given})", {"_op": op})


def arguments(spec: Spec, values: Iterable[str]) -> str:
    """How `values`, one expression a parameter, are passed."""
    pairs = zip(spec.params, values, strict=True)
    return ", ".join(f"{param.name}={value}" if param.keyword_only else value for param, value in pairs)


def is_simple(spec: Spec) -> bool:
    """Whether every argument can go to an operator as the caller wrote it, if tensors are what it has to be."""
    return bool(spec.params) and all(_is_simple(param) for param in spec.params)


def _is_simple(param: Param) -> bool:
    if param.form is None:
        return not param.is_list and param.kind in ("int", "float", "bool", "str")
    return not param.is_list and bool(param.form.shape or param.form.batch)  # of rank 0 it may be a number


def wants_gradient(spec: Spec) -> str:
    """An expression for functions that are simple: whether a tensor that a gradient can flow to requires one, and none that it
    cannot. All are asked: AttributeError where one isn't a tensor."""
    flows, stops = [], []
    for param in spec.params:
        if param.is_tensor:
            one = f"{param.name}.requires_grad"
            asked = stops if param.name in spec.nondiff else flows
            asked.append(f"({param.name} is not None and {one})" if param.optional else one)
    wanted = " | ".join(flows) or "False"
    return f"({wanted}) & (not ({' | '.join(stops)}))" if stops else wanted


def _named(name: str, parameters: list[str], body: str, scope: dict[str, Any]) -> Callable[..., Any]:
    """A function of that name, which may be a word that Python keeps for itself."""
    function = define("_function", f"def _function({', '.join(parameters)}):\n{_indent(body)}\n", scope)
    function.__name__ = function.__qualname__ = name
    return function


def define(name: str, source: str, scope: dict[str, Any]) -> Callable[..., Any]:
    exec(compile(source, f"<kernpack {name}>", "exec"), scope)
    function: Callable[..., Any] = scope[name]
    return function


def _indent(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())
