"""Calls on symbols become steps: what kernpack's call core hands over, and packed functions by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import kernpack
from kernpack import _core
from kernpack._suggest import did_you_mean

from kernpack_compiler.program import _tree
from kernpack_compiler.program._functions import Foreign, registered
from kernpack_compiler.program._program import Program
from kernpack_compiler.program._spec import Spec
from kernpack_compiler.program._symbol import Symbol, TraceError
from kernpack_compiler.program._trace import Trace, current


def _call_of_kernel(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], why: str) -> Any:
    """k.f(symbol): kernpack's call core met a symbol among the arguments."""
    info: kernpack.FunctionInfo = function.__self__
    trace = current(f"{info.name}: {why}; it")
    if kwargs.get("out") is not None:
        raise TraceError(f"{trace.name}: {info.name}: out: a program's values never change; use what the call returns")
    if info.text is None:
        raise TraceError(
            f"{trace.name}: {info.name}: it has no contract, so the shape of its result is unknown; "
            f"state it: program.call(k.functions['{info.name}'], ..., results=Spec(...))"
        )
    names = [name for name, *_ in info.parameters]
    return _record(trace, info, names, info._bind(args, kwargs))


def call_foreign(function: Foreign, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    trace = current(f"{function.name}: calling a foreign function")
    name = trace.functions.add(function)
    try:
        bound = trace.functions.table.signature(name).bind(*arguments, **named)
    except TypeError as error:
        raise TypeError(f"{function.name}{function.signature}: {error}") from None
    bound.apply_defaults()
    return _record(trace, function, list(bound.arguments), bound.arguments.values())


def _record(trace: Trace, function: kernpack.FunctionInfo | Foreign, names: list[str], values: Iterable[Any]) -> Any:
    arguments = [trace.get_value(value, f"{function.name}: {what}") for what, value in zip(names, values, strict=True)]
    return trace.call(trace.functions.add(function), arguments)


def call(function: str | kernpack.FunctionInfo | Foreign, *arguments: Any, results: Any) -> Any:
    """Records a call of a function without a contract: a module's, or one registered with kernpack.register_func().

    results: the Spec of its result, or a tuple of several.
    """
    trace = current("program.call")
    specs = list(results) if isinstance(results, (list, tuple)) else [results]
    if not specs or not all(isinstance(spec, Spec) for spec in specs):
        raise TypeError(f"program.call: results: expected a Spec or several, got {results!r}")
    entry = packed(function) if isinstance(function, str) else function
    name = trace.functions.add(entry)
    values = [trace.get_value(value, f"{name}: argument {index}") for index, value in enumerate(arguments)]
    return trace.call_untyped(name, values, specs)


def packed(name: str) -> Foreign:
    """A function of kernpack's registry, without a contract. KeyError if there is none."""
    if name not in kernpack.list_funcs():
        hint = did_you_mean(name, kernpack.list_funcs())
        raise KeyError(f"program.call: no function is registered as '{name}'{hint}")
    return registered(name) or Foreign(name, "", kernpack.get_func(name))


def call_program(program: Program, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Program(symbols): an invocation of it, by the program that is being traced."""
    trace = current(f"{program.name}: calling a Program")
    given = program.flatten(arguments, named)
    values = [trace.get_value(value, f"{program.name}: {what}") for what, value in given]
    return program.unflatten(trace.invoke(program, values))


def cond(condition: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *arguments: Any) -> Any:
    """The result of `then(*arguments)` if the condition, a bool[] symbol, holds at run time, else of `otherwise(*arguments)`.

    Both are traced with symbols of their own, so pass all that they use as arguments. Both return the same shapes and dtypes.
    """
    trace = current("program.cond")
    chosen = trace.get_value(condition, "program.cond: condition")
    symbols = [leaf for _, leaf in _tree.leaves(arguments) if isinstance(leaf, Symbol)]
    values = [trace.own(symbol, "program.cond: an argument") for symbol in symbols]
    first, second = trace.branch(then, arguments, "then"), trace.branch(otherwise, arguments, "else")
    if first.results != second.results:
        raise TraceError(
            f"{trace.name}: program.cond: expected the same results of both, got {_shown(first)} and {_shown(second)}"
        )
    return first.unflatten(trace.choose(chosen, first, second, values))


def _shown(program: Program) -> str:
    return f"{', '.join(f'{path} {spec}'.strip() for path, spec in program.results) or 'none'} from {program.name}"


_core.set_hook("program", _call_of_kernel)
