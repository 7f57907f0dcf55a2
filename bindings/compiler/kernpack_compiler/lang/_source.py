"""The author's source: the tree of a function, and errors that underline a part of it."""

from __future__ import annotations

import ast
import contextlib
import functools
import linecache
import re
from collections.abc import Iterator
from types import CodeType, FunctionType, TracebackType

_STEP = 1_000_000  # lines of file n of a kernel are numbered from n * _STEP: the IR's positions name no file


class KernelError(Exception):
    """A kernel's source has something that a kernel can't have. The text names the place and underlines it.

    filename, lineno, column: the place, counted from 1.
    """

    def __init__(self, filename: str, lineno: int, column: int, text: str) -> None:
        super().__init__(text)
        self.filename, self.lineno, self.column = filename, lineno, column

    def __reduce__(self) -> tuple[type[KernelError], tuple[str, int, int, str]]:
        return KernelError, (self.filename, self.lineno, self.column, str(self))


class Refusal(Exception):
    """A fault that the runtime of a rewritten function found; the traceback knows the place."""


def error_at(file: str, line: int, column: int, end: int | None, message: str) -> KernelError:
    """column, end: bytes of the line from 0, as trees and code count them; end None: the end of the line."""
    text = linecache.getline(file, line).rstrip()
    raw = text.encode()
    start, stop = len(raw[:column].decode(errors="ignore")), len(raw[:end].decode(errors="ignore"))
    indent = len(text) - len(text.lstrip())
    shown = f"{file}, line {line}, column {start + 1}: {message}"
    if text.strip():
        gap = re.sub(r"[^\t]", " ", text[indent:start])
        shown += f"\n    {text.lstrip()}\n    {gap}{'^' * max(1, stop - start)}"
    return KernelError(file, line, start + 1, shown)


class Source:
    """A function's definition in its file."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.file = function.__code__.co_filename
        self.tree = _definition(function)

    def error(self, node: ast.AST, message: str, end: ast.AST | None = None) -> KernelError:
        """Underlines a node, or from its start to the end of another one."""
        last = end or node
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        stop = getattr(last, "end_col_offset", None) if getattr(last, "end_lineno", 0) == line else None
        return error_at(self.file, line, column, stop, message)


def get_closure(function: FunctionType) -> dict[str, object]:
    """Variables of functions around it, which have a value."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # has no value yet
            found[name] = cell.cell_contents
    return found


class Files:
    """The files of a kernel and of its helpers, and which line of which file a position is."""

    def __init__(self) -> None:
        self._sources: list[Source] = []
        self._names: list[str] = []

    def add(self, source: Source) -> int:
        """How much the lines of this source are shifted by."""
        self._sources.append(source)
        if source.file not in self._names:
            self._names.append(source.file)
        return self._names.index(source.file) * _STEP

    def place(self, error: BaseException, message: str) -> KernelError | None:
        """An error of running rewritten code, at the innermost line of it; None: it didn't run."""
        at = [(frame.tb_frame.f_code, frame.tb_lasti) for frame in _frames(error.__traceback__) if _ours(frame)]
        if not at:
            return None
        line, _, column, end = _position(*at[-1])
        return self._with_callers(self._error(line, column, end or self._end(line, column), message), at[:-1])

    def called_from(self, error: KernelError) -> KernelError:
        """The same error, with the lines that called the helper that it is in."""
        at = [(frame.tb_frame.f_code, frame.tb_lasti) for frame in _frames(error.__traceback__) if _ours(frame)]
        return self._with_callers(error, at)

    def _with_callers(self, error: KernelError, at: list[tuple[CodeType, int]]) -> KernelError:
        said, innermost = str(error), (error.filename, error.lineno)
        for code, instruction in reversed(at):
            line = _position(code, instruction)[0]
            place = self._names[line // _STEP], line % _STEP
            if not code.co_name.startswith("<") and place != innermost:
                said += f"\n  called by {code.co_name}, {place[0]}, line {place[1]}"
        return KernelError(error.filename, error.lineno, error.column, said)

    def translate(self, message: str) -> KernelError | None:
        """An error of the IR that begins with a position in one of these files."""
        if not self._names:
            return None
        found = re.match(rf"{re.escape(self._names[0])}, line (\d+), column (\d+): (.*)", message, re.DOTALL)
        if found is None:
            return None
        line, column = int(found[1]), int(found[2]) - 1
        return self._error(line, column, self._end(line, column), found[3])

    def _error(self, line: int, column: int, end: int | None, message: str) -> KernelError:
        return error_at(self._names[line // _STEP], line % _STEP, column, end, message)

    def _end(self, line: int, column: int) -> int | None:
        """Where what the author wrote at a place ends: a statement's first line."""
        for source in self._sources:
            if source.file != self._names[line // _STEP]:
                continue
            for node in ast.walk(source.tree):
                at = getattr(node, "lineno", 0), getattr(node, "col_offset", -1)
                if at == (line % _STEP, column) and isinstance(node, ast.stmt):
                    return end_of_head(node)
        return None


def end_of_head(node: ast.stmt) -> int | None:
    """Of a loop or an `if`, its first line; None: to the end of the line."""
    head: ast.AST = node
    if isinstance(node, ast.For):
        head = node.iter
    elif isinstance(node, ast.If | ast.While):
        head = node.test
    elif isinstance(node, ast.FunctionDef):
        return None
    return getattr(head, "end_col_offset", None) if getattr(head, "end_lineno", 0) == node.lineno else None


def marker(space: dict[str, object]) -> dict[str, object]:
    """Marks the globals of a rewritten function, by which place() knows its frames."""
    space["__kernpack_kernel__"] = True
    return space


def is_the_authors(error: BaseException) -> bool:
    """Raised by rewritten code itself, not inside what it calls."""
    frames = list(_frames(error.__traceback__))
    return bool(frames) and _ours(frames[-1])


def _ours(frame: TracebackType) -> bool:
    return "__kernpack_kernel__" in frame.tb_frame.f_globals


def _frames(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _position(code: CodeType, instruction: int) -> tuple[int, int | None, int, int | None]:
    line, end_line, column, end = list(code.co_positions())[instruction // 2]
    return line or code.co_firstlineno, end_line, column or 0, end if end_line == line else None


def _definition(function: FunctionType) -> ast.FunctionDef:
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise KernelError(
            code.co_filename,
            code.co_firstlineno,
            1,
            f"{code.co_filename}: {code.co_name}: expected a function whose source is in a file or in a cell of a notebook, "
            "which the compiler reads; this one has none",
        )
    for node in _functions("".join(lines)):
        first = min((node, *node.decorator_list), key=lambda part: part.lineno)
        if node.name == code.co_name and first.lineno == code.co_firstlineno:
            if isinstance(node, ast.AsyncFunctionDef):
                raise error_at(
                    code.co_filename, node.lineno, node.col_offset, None, "`async`: a kernel is a plain `def`"
                )
            return node
    if code.co_name == "<lambda>":
        raise error_at(
            code.co_filename,
            code.co_firstlineno,
            0,
            None,
            "`lambda`: write a helper of a kernel as a function with `def`",
        )
    raise error_at(
        code.co_filename,
        code.co_firstlineno,
        0,
        None,
        f"{code.co_name}: its definition isn't at this line: has the file changed since it was imported?",
    )


@functools.lru_cache(maxsize=16)
def _functions(text: str) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
    return tuple(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
