"""Python functions with a signature's own parameters, written as text: calling one binds as Python binds, costs no loop over the
parameters, and torch.compile can read it.

A parameter may have any name without capitals. So every name of our own in such a text has some: it begins with `KP_`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kernpack._contract import Contract, Parameter

# torch passes an operator's arguments by name to functions of its own, which have parameters of these names.
_TAKEN = frozenset(
    [
        "_mutable_op",
        "_only_clone_these_bases",
        "_only_clone_these_tensors",
        "cls",
        "dispatch_key",
        "interpreter",
        "kernel",
        "keyset",
        "match",
        "mode",
        "node",
        "op",
        "requires_grad",
        "vmap_function",
    ]
)


def in_schema(name: str) -> str:
    """The name of a parameter or result in torch's schema, as ffi/src/guests/torch/schema.cc writes it. `mode` becomes `mode_`, and `mode_`
    becomes `mode__`, so that names stay different."""
    return f"{name}_" if name.rstrip("_") in _TAKEN else name


def bind(
    contract: Contract,
    call: Callable[..., Any],
    call_out: Callable[..., Any],
    shortcut: str = "",
    keywords: bool = False,
    **names: Any,
) -> Callable[..., Any]:
    """def rms_norm(x, weight, *, eps=…, out=None): call(x, weight, eps), or call_out(out, x, weight, eps). Where a parameter is called
    `out`, there is no call_out.

    shortcut: statements of the function that come first, and may return; they see the parameters, `out` and `names`.
    keywords: call(x, weight, eps=eps), as operators want it.
    """
    scope: dict[str, Any] = {"KP_call": call, "KP_call_out": call_out, **names}
    parameters: list[str] = []
    for i, param in enumerate(contract.parameters):
        if i == contract.num_positional:
            parameters.append("*")
        if param.has_default:
            scope[f"KP_default_{i}"] = param.default
            parameters.append(f"{param.name}=KP_default_{i}")
        else:
            parameters.append(param.name)
    given = ", ".join(param.name for param in contract.parameters)
    called = arguments(contract, [param.name for param in contract.parameters], in_schema) if keywords else given
    if not contract.takes_destinations:
        return _named(contract.name, parameters, f"{shortcut}return KP_call({called})", scope)
    if contract.num_positional == len(contract.parameters):
        parameters.append("*")
    body = f"{shortcut}return KP_call({called}) if out is None else KP_call_out(out, {given})"
    return _named(contract.name, [*parameters, "out=None"], body, scope)


def forward_to(contract: Contract, op: Any, with_results: bool = False) -> Callable[..., Any]:
    """A function of one value per parameter (and result) that calls `op`, keyword-only ones by keyword."""
    names = [param.name for param in contract.parameters]
    results = [result.name for result in contract.results] if with_results else []
    parts = [arguments(contract, names, in_schema), *(f"{in_schema(name)}={name}" for name in results)]
    given = ", ".join(part for part in parts if part)  # there may be no parameters
    return _named(contract.name, names + results, f"return KP_op({given})", {"KP_op": op})


def arguments(contract: Contract, values: Iterable[str], called: Callable[[str], str] = str) -> str:
    """How `values`, one expression a parameter, are passed. called: what the callee calls a parameter."""
    pairs = zip(contract.parameters, values, strict=True)
    return ", ".join(f"{called(param.name)}={value}" if param.keyword_only else value for param, value in pairs)


def is_simple(contract: Contract) -> bool:
    """True if every argument can be passed to an operator as the caller wrote it, provided that tensors are given for tensors."""
    return bool(contract.parameters) and all(_is_simple(param) for param in contract.parameters)


def _is_simple(param: Parameter) -> bool:
    if param.tensor is None:
        return not param.is_list and param.kind in ("int", "float", "bool", "str")
    return not param.is_list and bool(param.tensor.terms or param.tensor.batch)  # of rank 0 it may be a number


def _named(name: str, parameters: list[str], body: str, scope: dict[str, Any]) -> Callable[..., Any]:
    """A function of that name, which may be a word that Python keeps for itself."""
    function = define("KP_function", f"def KP_function({', '.join(parameters)}):\n{indent(body)}\n", scope)
    function.__name__ = function.__qualname__ = name
    return function


def define(name: str, source: str, scope: dict[str, Any]) -> Callable[..., Any]:
    exec(compile(source, f"<kernpack {name}>", "exec"), scope)
    function: Callable[..., Any] = scope[name]
    return function


def indent(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())
