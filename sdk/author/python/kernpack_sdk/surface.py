"""The names that a package offers to Python: its author's `__init__.py`, its kernels, and the stub of both."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

# For a package without an __init__.py: makes `import my_kernels; my_kernels.rms_norm(x)` do what the stub says.
INIT = """\
from kernpack import load as _load

_module = _load(__name__)


def __getattr__(name):
    return getattr(_module, name)


def __dir__():
    return [*globals(), *dir(_module)]
"""


def is_written_by_hand(init: Path) -> bool:
    return init.read_text(encoding="utf-8", errors="replace") != INIT


class Names:
    """The names that a module binds at its top level, and under `if` and `try`."""

    def __init__(self, text: str) -> None:
        self.made: dict[str, ast.stmt] = {}  # by def, class or assignment
        self.imported: set[str] = set()
        self.imports: list[ast.stmt] = []
        self.anything = False  # __getattr__ or import *: other names may be there too
        self._read(ast.parse(text).body)

    def _read(self, statements: Iterable[ast.stmt]) -> None:
        for each in statements:
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.made[each.name] = each
                self.anything |= each.name == "__getattr__"
            elif isinstance(each, ast.Assign | ast.AnnAssign):
                for target in each.targets if isinstance(each, ast.Assign) else [each.target]:
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name):
                            self.made[name.id] = each
            elif isinstance(each, ast.Import | ast.ImportFrom):
                self.imports.append(each)
                for alias in each.names:
                    self.imported.add(alias.asname or alias.name.partition(".")[0])
                    self.anything |= alias.name == "*"
            elif isinstance(each, ast.If):
                self._read([*each.body, *each.orelse])
            elif isinstance(each, ast.Try):
                self._read([*each.body, *each.orelse, *(line for handler in each.handlers for line in handler.body)])
            elif isinstance(each, ast.For | ast.While | ast.With):
                self.anything |= any(isinstance(part, ast.Call) and _sets_names(part) for part in ast.walk(each))
            elif isinstance(each, ast.Expr):
                self.anything |= isinstance(each.value, ast.Call) and _sets_names(each.value)

    def public(self) -> set[str]:
        return {name for name in self.made if not name.startswith("_")}


def _sets_names(call: ast.Call) -> bool:
    """globals().update(...), setattr(module, ...)."""
    return any(isinstance(part, ast.Name) and part.id in ("globals", "setattr", "vars") for part in ast.walk(call))


def contradictions(package: Path, kernels: set[str]) -> Iterator[str]:
    """Where `__init__.pyi` says something else than `__init__.py` does: a type checker refuses what is there, or accepts what isn't."""
    init, stub = package / "__init__.py", package / "__init__.pyi"
    if not init.is_file() or not stub.is_file():
        return
    try:
        code, said = (Names(path.read_text(encoding="utf-8")) for path in (init, stub))
    except (SyntaxError, ValueError) as error:
        yield f"__init__.py or its stub isn't Python: {error}"
        return
    if not said.anything:
        for name in sorted(code.public() - set(said.made) - said.imported):
            yield f"__init__.pyi lacks {name}, which __init__.py defines; {_AGAIN}"
    if not code.anything:
        files = {path.name.partition(".")[0] for path in package.iterdir()}
        for name in sorted(said.public() - set(code.made) - code.imported - files):
            what = "the kernel " if name in kernels else ""
            yield f"__init__.pyi promises {what}{name}, which __init__.py doesn't have; {_AGAIN}, or define it there"


_AGAIN = "delete the stub, and the build writes one that fits"


def merged(stub: str, init: str) -> str:
    """The stub of a package's kernels, with what its author's `__init__.py` offers: its own definitions instead of kernels of the
    same name, and kernels only where the package has them."""
    code, kernels = Names(init), Names(stub)
    offered = [name for name in kernels.made if not name.startswith("_")]
    tree = ast.parse(stub)
    keep = []
    for each in tree.body:
        name = getattr(each, "name", None)
        if name in offered:
            own = code.made.get(name)
            is_alias = isinstance(own, ast.Assign | ast.AnnAssign)  # softmax = _k.softmax
            if not (is_alias or (own is None and (code.anything or name in code.imported))):
                continue
        keep.append(ast.get_source_segment(stub, each) or "")
    lines = [line for line in stub.splitlines() if line.startswith("#")]
    lines += [ast.unparse(each) for each in code.imports if _is_typing(each)]
    lines += keep
    for name, each in code.made.items():
        if not (name in offered and isinstance(each, ast.Assign | ast.AnnAssign)) and name not in (
            "__getattr__",
            "__dir__",
        ):
            lines.append(_declared(name, each))
    return "\n".join(line for line in lines if line) + "\n"


def _is_typing(each: ast.stmt) -> bool:
    """Imports are kept, since annotations name what they bring; `from __future__` says nothing in a stub."""
    return not (isinstance(each, ast.ImportFrom) and each.module == "__future__")


def _declared(name: str, each: ast.stmt) -> str:
    """A definition as a stub says it."""
    if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
        return ast.unparse(_without_body(each))
    if isinstance(each, ast.ClassDef):
        body = [
            _without_body(part) if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) else part
            for part in each.body
            if not isinstance(part, ast.Expr)
        ]
        made = ast.ClassDef(
            each.name, each.bases, each.keywords, body or [ast.Expr(ast.Constant(...))], each.decorator_list
        )
        return ast.unparse(ast.fix_missing_locations(made))
    if isinstance(each, ast.AnnAssign):
        return f"{name}: {ast.unparse(each.annotation)}"
    if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant) and each.value.value is not None:
        return f"{name}: {type(each.value.value).__name__}"
    return f"{name}: Any" if name != "__all__" else ast.unparse(each)


def _without_body(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
    docstring = [ast.Expr(ast.Constant(text))] if (text := ast.get_docstring(function)) else []
    body: list[ast.stmt] = [*docstring, ast.Expr(ast.Constant(...))]
    made = type(function)(function.name, function.args, body, function.decorator_list, function.returns)
    return ast.fix_missing_locations(made)
