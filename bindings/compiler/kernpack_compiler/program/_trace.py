"""Running a Python function once, with symbols for its tensors, to write a program."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from kernpack_compiler._native import VirtualDevice
from kernpack_compiler._native import program as _native
from kernpack_compiler.program import _tree
from kernpack_compiler.program._functions import Functions
from kernpack_compiler.program._program import Program
from kernpack_compiler.program._spec import Spec, make_spec
from kernpack_compiler.program._symbol import Symbol, TraceError

_OURS = ("kernpack_compiler.program", "kernpack.")


def origin() -> str:
    """ "model.py:24 in layer": the innermost line outside this package, which is the author's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and f"{frame.f_globals.get('__name__', '')}.".startswith(_OURS):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno} in {frame.f_code.co_name}"


class _Stack(threading.local):
    def __init__(self) -> None:
        self.traces: list[Trace] = []


_open = _Stack()


def current(what: str) -> Trace:
    """The innermost trace of this thread. RuntimeError outside one."""
    if not _open.traces:
        raise RuntimeError(f"{what} belongs in a function that program.trace() runs; no trace is running here")
    return _open.traces[-1]


class Trace:
    """One program while it is written."""

    def __init__(self, name: str, operators: Any, functions: Functions) -> None:
        self.name = name
        self.functions = functions
        self.programs: dict[str, _native.Program] = {}  # that this one invokes, and those that they do
        self._operators = operators
        self._builder = _native.Builder(name, functions.table)
        self._constants: dict[tuple[type, str], int] = {}
        self._names = _tree.Names()
        self._closed = False

    @contextlib.contextmanager
    def going_on(self) -> Iterator[None]:
        _open.traces.append(self)
        try:
            yield
        finally:
            _open.traces.pop()
            self._closed = True

    def operator(self, name: str) -> Callable[..., Any]:
        """The function for an operator of Python: `add` for +."""
        if self._operators is None:
            raise TraceError(
                f"{self.name}: '{name}' of symbols: kernels have no arithmetic of their own; pass trace(..., operators=...), "
                f"whose attribute '{name}' is called with the operands"
            )
        found: Callable[..., Any] | None = getattr(self._operators, name, None)
        if found is None:
            raise TraceError(
                f"{self.name}: the operators of this trace have no '{name}'; add it to {self._operators!r}"
            )
        return found

    def param(self, name: str, spec: Spec) -> Symbol:
        value = self._builder.param(name, spec.dtype.name, spec.shape)
        return Symbol(self, value, spec, f"parameter {name}")

    def get_value(self, argument: Any, what: str) -> int:
        """The program's value for an argument of a step: a symbol's own, a constant, a tuple of such."""
        if isinstance(argument, Symbol):
            return self.own(argument, what)
        if isinstance(argument, (list, tuple)):
            return self._builder.tuple([self.get_value(item, what) for item in argument])
        argument = _plain(argument)
        if make_spec(argument) is not None:
            kind = f"{type(argument).__module__.partition('.')[0]} {type(argument).__name__}"
            raise TraceError(
                f"{self.name}: {what}: expected a symbol or a number, got an array ({kind}, {make_spec(argument)}): a program "
                "holds no arrays; make it an argument of the traced function"
            )
        key = type(argument), repr(argument)
        if key not in self._constants:
            try:
                self._constants[key] = self._builder.constant(argument)
            except TypeError as error:
                raise TraceError(f"{self.name}: {what}: {error}") from None
        return self._constants[key]

    def own(self, symbol: Symbol, what: str) -> int:
        """The symbol's value. TraceError for a symbol of another trace."""
        theirs = symbol._trace
        if theirs is self and not self._closed:
            return symbol._value
        if theirs._closed:
            raise symbol._error(
                f"{what}: this symbol outlived its trace; return it instead of keeping it in a global, an attribute or a "
                "closure"
            )
        raise symbol._error(
            f"{what}: it belongs to the trace of '{theirs.name}', not to that of '{self.name}': programs have no closures; "
            "pass it as an argument"
        )

    def call(self, name: str, arguments: list[int]) -> Any:
        """A step that calls a function with a contract: a symbol, a tuple of several, None for none."""
        made = self.symbols(self._builder.call(name, arguments), name)
        return None if not made else made[0] if len(made) == 1 else tuple(made)

    def call_untyped(self, name: str, arguments: list[int], specs: list[Spec]) -> Any:
        types = [(spec.dtype.name, list(spec.shape)) for spec in specs]
        made = self.symbols(self._builder.call_untyped(name, arguments, types), name)
        return made[0] if len(made) == 1 else tuple(made)

    def invoke(self, program: Program, arguments: list[int]) -> list[Symbol]:
        self._adopt(program)
        return self.symbols(self._builder.invoke(program.native, arguments), program.name)

    def choose(self, condition: int, then: Program, otherwise: Program, arguments: list[int]) -> list[Symbol]:
        self._adopt(then)
        self._adopt(otherwise)
        return self.symbols(self._builder.cond(then.native, otherwise.native, [condition, *arguments]), "program.cond")

    def branch(self, function: Callable[..., Any], arguments: tuple[Any, ...], word: str) -> Program:
        """A program of one side of cond(), over specs of the arguments."""
        specs = _tree.rebuild(arguments, lambda _, leaf: leaf._spec if isinstance(leaf, Symbol) else leaf)
        if isinstance(function, Program):
            return function
        name = self._names.take(f"{self.name}_{word}")
        return trace(function, *specs, name=name, operators=self._operators)

    def find_device(self, symbol: Symbol, what: str) -> VirtualDevice:
        return self._builder.device_of(self.own(symbol, what))

    def place(self, symbol: Symbol, device: VirtualDevice) -> None:
        self._builder.set_device(symbol._value, device)

    def copy(self, symbol: Symbol, device: VirtualDevice) -> Symbol:
        value = self._builder.copy(self.own(symbol, "program.device_copy"), device)
        return Symbol(self, value, symbol._spec, f"from device_copy, {origin()}")

    def _adopt(self, program: Program) -> None:
        for function in program.functions:
            self.functions.add(function)
        for one in program.module.programs:
            known = self.programs.setdefault(one.name, one)
            if known != one or one.name == self.name:
                raise ValueError(
                    f"{self.name}: two programs are named '{one.name}'; name one of them: trace(..., name='...')"
                )

    def symbols(self, values: list[_native.Described], what: str) -> list[Symbol]:
        """Symbols for the results of a step."""
        made = []
        for value, dtype, shape in values:
            if dtype is None or shape is None or None in shape:
                raise TraceError(
                    f"{self.name}: {what}: the shape of its result is not known before the run; "
                    "program.call(function, *arguments, results=Spec(...)) states it"
                )
            extents = [extent for extent in shape if extent is not None]
            made.append(Symbol(self, value, Spec(extents, dtype), f"from {what}, {origin()}"))
        return made

    def finish(self, results: Any) -> _native.Program:
        values = []
        for path, leaf in _tree.leaves(results):
            what = f"result {path}" if path else "result"
            if not isinstance(leaf, Symbol):
                raise TraceError(
                    f"{self.name}: {what}: expected a symbol, got {type(leaf).__name__}; a traced function returns results of "
                    "its calls: one, or a tuple, list or dict of them"
                )
            values.append(self.own(leaf, what))
        return self._builder.finish(values)


def _plain(argument: Any) -> Any:
    """A scalar of NumPy as Python's number."""
    numpy = sys.modules.get("numpy")
    return argument.item() if numpy is not None and isinstance(argument, numpy.generic) else argument


def trace(
    function: Callable[..., Any],
    /,
    *specs: Any,
    name: str | None = None,
    operators: Any = None,
    **named: Any,
) -> Program:
    """Makes a program by running `function` once.

    specs: its arguments: Spec((8, 384), "f32"), or an array, of which only shape and dtype are used; nested in dicts,
        lists and tuples. Anything else (numbers, strings, None) is passed as it is and becomes part of the program.
    named: the same for arguments by name.
    operators: implements Python's operators on symbols: an object with `add`, `matmul`, `reshape`, ...
    name: of the program; by default the function's name, `main` for a lambda.

    Inside, functions of kernpack modules accept and return symbols. TraceError for anything that a program cannot do.
    """
    behind = getattr(function, "func", function)  # of a functools.partial
    own = getattr(behind, "__name__", "main")
    chosen = _tree.Names().take(str(name or ("main" if own == "<lambda>" else own)))
    if isinstance(function, Program):
        raise TypeError(f"program.trace: '{function.name}' is a Program already")
    if not callable(function):
        raise TypeError(f"program.trace: expected a function to run, got {type(function).__name__}")
    bound = _bound(function, specs, named)
    outer = _open.traces[-1] if _open.traces else None
    tracer = Trace(chosen, operators if operators is not None or outer is None else outer._operators, Functions())
    names = _tree.Names()

    def make_symbol(path: str, leaf: Any) -> Any:
        spec = make_spec(leaf)
        if isinstance(leaf, Symbol):
            raise leaf._error("program.trace takes specs and arrays; to use a program inside another, call the Program")
        return leaf if spec is None else tracer.param(names.take(path), spec)

    with tracer.going_on():
        arguments = _tree.rebuild(bound, make_symbol)
        results = _call(function, arguments)
        program = tracer.finish(results)
    module = _native.ProgramModule([*tracer.programs.values(), program])
    return Program(module, tracer.functions, bound, _tree.rebuild(results, lambda _, symbol: symbol._spec))


def _bound(function: Callable[..., Any], specs: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """The arguments by the names of the parameters, which the program's are named after."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some builtins have none
        return {**{f"x{index}": spec for index, spec in enumerate(specs)}, **named}
    try:
        return dict(signature.bind(*specs, **named).arguments)
    except TypeError as error:
        raise TypeError(f"program.trace: {getattr(function, '__name__', 'the function')}{signature}: {error}") from None


def _call(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return function(*arguments.values())
    call = inspect.BoundArguments(signature, arguments)
    return function(*call.args, **call.kwargs)


def define(*specs: Any, **named: Any) -> Callable[[Callable[..., Any]], Program]:
    """trace() as a decorator, with the same arguments: `@define(Spec((8, 384), "f32"))` makes the function below it a Program."""
    return lambda function: trace(function, *specs, **named)
