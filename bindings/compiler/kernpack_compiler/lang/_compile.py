"""A function of the author as code that records it: rewritten in place, under the author's file name."""

from __future__ import annotations

import ast
import copy
from types import CodeType, FunctionType
from typing import Any

from kernpack_compiler.lang._contract import Contract
from kernpack_compiler.lang._runtime import Runtime
from kernpack_compiler.lang._source import Files, Source, get_closure, marker
from kernpack_compiler.lang._statements import Statements
from kernpack_compiler.lang._tree import RUNTIME, at, runtime
from kernpack_compiler.lang._values import plain


class Codes:
    """The code of a kernel and of its helpers. It is made once; what it calls differs between runs."""

    def __init__(self, source: Source, contract: Contract) -> None:
        self.files = Files()
        self._source = source
        self._made: dict[FunctionType, CodeType] = {}
        tensors = [p.name for p in contract.all if not p.is_scalar]
        scalars = [p.name for p in contract.parameters if p.is_scalar]
        statements = Statements(source, scalars, tensors, dims=contract.dims, is_kernel=True)
        names = [*tensors, *scalars, *contract.dims]
        arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
        shift = self.files.add(source)
        self._made[source.function] = _compiled(source, arguments, statements, shift)

    def kernel(self, recorder: Runtime) -> FunctionType:
        """The kernel; its parameters are tensors, numbers and dims."""
        function = self._source.function
        return _function(function, self._made[function], recorder)

    def helper(self, function: FunctionType, recorder: Runtime) -> FunctionType:
        if function not in self._made:
            source = Source(function)
            arguments = copy.deepcopy(source.tree.args)
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            for extra in (arguments.vararg, arguments.kwarg):
                if extra is not None:
                    raise source.error(extra, f"`*{extra.arg}`: a helper names its parameters")
            for argument in every:
                argument.annotation = None
            arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
            values = [argument.arg for argument in every]
            shift = self.files.add(source)
            self._made[function] = _compiled(
                source, arguments, Statements(source, values, [], dims=[], is_kernel=False), shift
            )
        made = _function(function, self._made[function], recorder)
        made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        return made

    def begin(self, recorder: Any) -> Any:
        """Calls recorder.begin() from the place of the `def`, which becomes the function's position."""
        call = ast.Expression(at(self._source.tree, runtime("begin")))
        space: dict[str, Any] = {"__name__": self._source.function.__globals__.get("__name__", ""), RUNTIME: recorder}
        return eval(compile(call, self._source.file, "eval", dont_inherit=True), marker(space))


def _compiled(source: Source, arguments: ast.arguments, statements: Statements, shift: int) -> CodeType:
    tree = source.tree
    body = statements.rewritten()
    definition = at(tree, ast.FunctionDef(tree.name, arguments, body, []))
    if "type_params" in ast.FunctionDef._fields:  # from Python 3.12
        definition.type_params = []  # type: ignore[attr-defined]
    module = ast.Module([definition], [])
    ast.increment_lineno(module, shift)
    made = compile(module, source.file, "exec", dont_inherit=True)
    return next(part for part in made.co_consts if isinstance(part, CodeType))


def _function(function: FunctionType, code: CodeType, recorder: Runtime) -> FunctionType:
    """The code as a function that sees the names of the author's function, as they are now."""
    # Its own name: a call of itself is refused by name.
    space = {**function.__globals__, function.__name__: function, **get_closure(function)}
    for name in code.co_names:
        if name in space:
            space[name] = plain(space[name])
    space[RUNTIME] = recorder
    return FunctionType(code, marker(space), function.__name__)
