"""Libraries of other wheels that modules need: which wheel has each, and the requirements (Requires-Dist) that follow.

A module says it in an ELF note, which kernpack_add_module() writes; for NVIDIA's libraries there is a table, too. Both are described in
kernpack/library_table.h. A project declares its requirements in pyproject.toml, so that installers know them before anything is built:

    [tool.kernpack]
    needs = ["nvidia-cublas>=13,<14"]
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from kernpack_sdk import include_dir, shared_object

_ROW = re.compile(r'^  X\((\d+), (\w+), "([^"]+)", "([^"]+)", "([^"]+)", "([^"]+)"\)', re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Need:
    """A library that a module needs, and the wheel that has it: several where it is called alike for several versions of CUDA."""

    library: str
    requirements: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.library} ({' or '.join(self.requirements)})"


@dataclasses.dataclass(frozen=True)
class _Row:
    cuda: int
    library: str
    requirement: str


@functools.cache
def _table() -> tuple[_Row, ...]:
    text = (include_dir() / "kernpack" / "library_table.h").read_text(encoding="utf-8")
    return tuple(_Row(int(row[0]), row[2], row[3]) for row in _ROW.findall(text))


def known_libraries() -> frozenset[str]:
    """The names of NVIDIA's libraries."""
    return frozenset(row.library for row in _table())


def of_object(so: shared_object.SharedObject) -> list[Need]:
    """In the order of DT_NEEDED; libraries that no wheel is known for are left out."""
    noted = _noted(so.needs_note)
    cuda = _cuda(so.needed)
    found = []
    for library in so.needed:
        rows = [row.requirement for row in _table() if row.library == library and cuda in (None, row.cuda)]
        if requirements := noted.get(library, tuple(rows)):
            found.append(Need(library, requirements))
    return found


def _noted(text: str) -> dict[str, tuple[str, ...]]:
    lines = [line.split("\t") for line in text.splitlines()]
    return {line[0]: (line[1],) for line in lines if len(line) == 3 and _is_requirement(line[1])}


def _is_requirement(text: str) -> bool:
    try:
        return bool(Requirement(text))
    except InvalidRequirement:
        return False


def _cuda(libraries: Iterable[str]) -> int | None:
    """The version of CUDA that one of the libraries alone tells."""
    for library in libraries:
        versions = {row.cuda for row in _table() if row.library == library}
        if len(versions) == 1:
            return versions.pop()
    return None


def declared(settings: dict[str, Any]) -> list[Requirement]:
    """The requirements of a parsed pyproject.toml. ValueError."""
    given = settings.get("tool", {}).get("kernpack", {}).get("needs", [])
    where = "pyproject.toml: [tool.kernpack] needs: expected a list of requirements"
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise ValueError(f'{where}, such as ["nvidia-cublas>=13,<14"], got {given!r}')
    try:
        return [Requirement(each) for each in given]
    except InvalidRequirement as error:
        raise ValueError(f'{where}, such as ["nvidia-cublas>=13,<14"]: {error}'.replace("\n", " ")) from None


def required(metadata: str, modules: Sequence[Path], stated: Sequence[Requirement]) -> list[Requirement]:
    """The requirements of a wheel beside those in its METADATA: of the libraries that its modules need. ValueError: what is stated and
    what the modules need don't go together."""
    there = _names(_requirements(metadata))
    wanted = _names(stated)
    used: set[str] = set()
    added: dict[str, Requirement] = {}
    cuda = None
    found = {file: shared_object.read(file) for file in modules}
    for so in found.values():
        cuda = cuda or _cuda(so.needed)
    for file, so in found.items():
        for need in of_object(so):
            names = {canonicalize_name(Requirement(text).name): text for text in need.requirements}
            used |= set(names)
            if any(name in there or name in wanted for name in names):
                continue
            chosen = _of_version(need, cuda)
            if len(chosen) != 1:
                raise ValueError(
                    f"{file.name} needs {need}, by the version of CUDA; say which in pyproject.toml: [tool.kernpack] needs = "
                    f'["{need.requirements[0]}"]'
                )
            added[canonicalize_name(Requirement(chosen[0]).name)] = Requirement(chosen[0])
    if unused := sorted(name for name in wanted if name not in used):
        raise ValueError(
            f"pyproject.toml: [tool.kernpack] needs: {unused[0]}: no module of the wheel links a library of that wheel; list the "
            "library in LIBRARIES of kernpack_add_module(), or leave the requirement out"
        )
    return [each for name, each in {**wanted, **added}.items() if name not in there]


def _of_version(need: Need, cuda: int | None) -> list[str]:
    rows = {row.requirement for row in _table() if cuda in (None, row.cuda)}
    return [each for each in need.requirements if len(need.requirements) == 1 or each in rows]


def _requirements(metadata: str) -> list[Requirement]:
    head = metadata.partition("\n\n")[0]
    found = re.findall(r"^Requires-Dist: *(.*\S)", head, re.MULTILINE)
    return [Requirement(text) for text in found if _is_requirement(text)]


def _names(requirements: Iterable[Requirement]) -> dict[str, Requirement]:
    """Those of an extra aren't the wheel's own."""
    return {canonicalize_name(each.name): each for each in requirements if "extra" not in str(each.marker or "")}


def missing(metadata: Iterable[str], found: Iterable[Need]) -> list[Need]:
    """The libraries whose wheels the Requires-Dist of a wheel don't name."""
    there = _names(Requirement(text) for text in metadata if _is_requirement(text))
    return [
        need
        for need in found
        if not any(canonicalize_name(Requirement(text).name) in there for text in need.requirements)
    ]


def add_to_metadata(file: Path, requirements: Iterable[Requirement]) -> None:
    """Adds lines of Requires-Dist to the headers of a METADATA file."""
    lines = [f"Requires-Dist: {each}" for each in requirements]
    if not lines:
        return
    head, gap, body = file.read_text(encoding="utf-8").partition("\n\n")
    file.write_text("\n".join([head.rstrip("\n"), *lines]) + (gap or "\n") + body, encoding="utf-8")
