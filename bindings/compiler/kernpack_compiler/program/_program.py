"""A program, made by trace() or from a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kernpack_compiler._native import program as _native
from kernpack_compiler.program import _tree
from kernpack_compiler.program._functions import Functions, Source, registered
from kernpack_compiler.program._spec import Spec, make_spec


class Program:
    """A sequence of calls of named functions, and the programs that it invokes. Immutable.

    str() is the text form, which Program.parse() reads back. Called with symbols, inside another trace, it becomes a step.
    """

    def __init__(
        self, module: _native.ProgramModule, functions: Functions, arguments: Mapping[str, Any], results: Any
    ) -> None:
        self.module = module
        self.native = module.programs[-1]  # after those that it invokes
        self.functions = functions
        self.name: str = self.native.name
        self._arguments = {name: tree for name, tree in arguments.items() if _has_spec(tree)}
        self._results = results

    @classmethod
    def parse(cls, text: str, functions: Iterable[Source] = ()) -> Program:
        """The program of a text, the last one if there are several. `functions`: modules and foreign functions.

        ValueError: "line 3, column 9: expected ..., got ...", also for a call of a function that isn't in `functions`.
        """
        module = _native.ProgramModule.parse(text)
        table = Functions(functions)
        for name in module.callees():
            entry = registered(name)
            if entry is not None:
                table.add(entry)
        module.verify(table.table)
        if not module.programs:
            raise ValueError("Program.parse: text: expected a text with at least one program, got one without any")
        main = module.programs[-1]
        arguments = {name: _spec(main.name, name, dtype, shape) for name, dtype, shape in main.params}
        results = tuple(
            _spec(main.name, f"result {index}", dtype, shape) for index, (dtype, shape) in enumerate(main.results)
        )
        return cls(module, table, arguments, results[0] if len(results) == 1 else results)

    @property
    def params(self) -> list[tuple[str, Spec]]:
        """Name and Spec of each parameter, in order."""
        return [(name, Spec(shape, dtype)) for name, dtype, shape in self.native.params]

    @property
    def results(self) -> list[tuple[str, Spec]]:
        """Path, in what the traced function returned, and Spec of each result, in order."""
        return list(_tree.leaves(self._results))

    def flatten(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """(name, value) of each parameter, from arguments nested as those of the traced function. TypeError if they aren't."""
        names = list(self._arguments)
        if len(arguments) > len(names):
            raise TypeError(f"{self.name}: expected {len(names)} arguments ({', '.join(names)}), got {len(arguments)}")
        given = dict(zip(names, arguments, strict=False))
        for name, value in named.items():
            if name in given or name not in names:
                what = "is given twice" if name in given else f"isn't one of its parameters ({', '.join(names)})"
                raise TypeError(f"{self.name}: '{name}' {what}")
            given[name] = value
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"{self.name}: missing {', '.join(missing)}")
        flat: list[tuple[str, Any]] = []
        for name in names:
            _pair(self.name, self._arguments[name], given[name], name, flat)
        return flat

    def nest(self, values: Sequence[Any]) -> dict[str, Any]:
        """The inverse of flatten(): one value per parameter, nested as the arguments of the traced function, by name."""
        rest = iter(values)
        return {
            name: _tree.rebuild(tree, lambda _, leaf: leaf if make_spec(leaf) is None else next(rest))
            for name, tree in self._arguments.items()
        }

    def unflatten(self, values: Sequence[Any]) -> Any:
        """Results in order, nested as the traced function returned them."""
        rest = iter(values)
        return _tree.rebuild(self._results, lambda path, leaf: next(rest))

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        from kernpack_compiler.program._calls import call_program

        return call_program(self, arguments, named)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self.module == other.module

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return str(self.module)

    def __repr__(self) -> str:
        calls = self.module.callees()
        return (
            f"<Program {self.name}: parameters: {len(self.params)}, calls: {len(calls)}, functions: {len(set(calls))}, "
            f"results: {len(self.results)}>"
        )


def _spec(program: str, what: str, dtype: str | None, shape: list[int | str | None] | None) -> Spec:
    """The Spec of a parameter or result that a text declares."""
    if dtype is None or shape is None or None in shape:
        raise ValueError(
            f"{program}: {what}: expected the type of a tensor with its dims, such as f32[N, 8]: a program's "
            "arguments and results are tensors; make other values constants"
        )
    return Spec([extent for extent in shape if extent is not None], dtype)


def _has_spec(tree: Any) -> bool:
    return any(make_spec(leaf) is not None for _, leaf in _tree.leaves(tree))


def _pair(program: str, wanted: Any, given: Any, path: str, flat: list[tuple[str, Any]]) -> None:
    """Appends the leaves of `given` that `wanted` has a Spec for."""
    if isinstance(wanted, dict):
        if not isinstance(given, Mapping):
            raise TypeError(
                f"{program}: {path}: expected a dict of {', '.join(map(str, wanted))}, got {type(given).__name__}"
            )
        missing = [key for key in wanted if key not in given]
        if missing:
            raise TypeError(f"{program}: {path}: expected the keys it was traced with, '{missing[0]}' is missing")
        for key, part in wanted.items():
            _pair(program, part, given[key], f"{path}_{key}", flat)
    elif isinstance(wanted, (list, tuple)):
        if not isinstance(given, (list, tuple)) or len(given) != len(wanted):
            count = f"{len(given)}" if isinstance(given, (list, tuple)) else type(given).__name__
            raise TypeError(f"{program}: {path}: expected {len(wanted)} items, as it was traced with, got {count}")
        for index, part in enumerate(wanted):
            _pair(program, part, given[index], f"{path}_{index}", flat)
    elif make_spec(wanted) is not None:
        flat.append((path, given))
