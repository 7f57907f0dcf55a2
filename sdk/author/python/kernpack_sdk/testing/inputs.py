"""Facts that only an author knows: meaningful inputs of an op, and findings that are deliberate.

A file, `tests/kernpack_inputs.py` unless another is named:

    from kernpack_sdk.testing import allow, argument

    @argument("embedding*", "indices")
    def indices(draw):
        return draw.rng.integers(0, draw.dims["V"], draw.shape)

    known = [allow("dropout", "repeat", "random on purpose")]
"""

from __future__ import annotations

import fnmatch
import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

_MARK = "__kernpack_inputs__"
DEFAULT = Path("tests/kernpack_inputs.py")


@dataclass(frozen=True)
class Generated:
    """op: a pattern, as of file names. name: a parameter or a dim; "*" of `arguments`: the whole call."""

    op: str
    name: str
    make: Callable[..., Any]


@dataclass(frozen=True)
class Allowed:
    op: str
    check: str
    reason: str


def argument(op: str, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a generator of one argument, or of the size of one dim: it takes a `Draw` and returns the value."""
    return _marked("argument", op, name)


def arguments(op: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a generator of all arguments: it takes a numpy.random.Generator and returns a dict by parameter, or a tuple. Functions
    without a contract need one."""
    return _marked("arguments", op, "*")


def allow(op: str, check: str, reason: str) -> Allowed:
    """Findings of a check of an op that are meant: they are listed, and nothing fails."""
    for what, value in (("op", op), ("check", check), ("reason", reason)):
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"allow: {what}: expected text, got {value!r}")
    return Allowed(op, check, reason)


def _marked(kind: str, op: str, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    if not isinstance(op, str) or not isinstance(name, str):
        raise TypeError(f"{kind}: expected the names of an op and of what is generated, got {op!r} and {name!r}")

    def mark(make: Callable[..., Any]) -> Callable[..., Any]:
        setattr(make, _MARK, (*getattr(make, _MARK, ()), (kind, op, name)))
        return make

    return mark


@dataclass(frozen=True)
class Inputs:
    """The content of one file."""

    generated: tuple[Generated, ...] = ()
    allowed: tuple[Allowed, ...] = ()
    references: Mapping[str, Callable[..., Any]] = field(
        default_factory=dict
    )  # functions in Python that compute what ops do

    def argument(self, op: str, name: str) -> Callable[..., Any] | None:
        found = (each.make for each in self.generated if each.name == name and fnmatch.fnmatchcase(op, each.op))
        return next(found, None) if name != "*" else None

    def arguments(self, op: str) -> Callable[..., Any] | None:
        found = (each.make for each in self.generated if each.name == "*" and fnmatch.fnmatchcase(op, each.op))
        return next(found, None)

    def allowance(self, op: str, check: str) -> str:
        """The reason, if findings of the check are meant; else empty."""
        for each in self.allowed:
            if fnmatch.fnmatchcase(op, each.op) and fnmatch.fnmatchcase(check, each.check):
                return each.reason
        return ""


def read(path: Path | None) -> Inputs:
    """None: the default file, if it is there. ValueError where the file cannot be run."""
    if path is None:
        if not DEFAULT.is_file():
            return Inputs()
        path = DEFAULT
    names = _run(path, "inputs: expected a Python file with generators")
    generated = [
        Generated(op, name, value)
        for value in names.values()
        if callable(value)
        for _, op, name in getattr(value, _MARK, ())
    ]
    allowed: list[Allowed] = []
    for value in names.values():
        allowed += [
            item for item in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(item, Allowed)
        ]
    return Inputs(tuple(generated), tuple(allowed))


def with_references(given: Inputs, path: Path) -> Inputs:
    """Of the file, every function: the checks compare an op with the one of its name."""
    names = _run(path, "--reference: expected a Python file with functions named as the module's")
    return replace(
        given, references={name: value for name, value in names.items() if callable(value) and name[:1] != "_"}
    )


def _run(path: Path, expected: str) -> dict[str, Any]:
    """The names of the author's file."""
    if not path.is_file():
        raise ValueError(f"{expected}, got {path}, which isn't there")
    try:
        return runpy.run_path(str(path))
    except Exception as error:  # whatever it raises
        raise ValueError(f"{path}: {type(error).__name__}: {error}") from error
