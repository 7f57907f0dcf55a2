"""`kernpack add-op`: one more op in an author's project, with its gradient and its test, from the files of project_template/op."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kernpack_sdk.project import BuildError, Project

_FILES = Path(__file__).resolve().parent / "project_template" / "op"
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_MODULE_CALL = re.compile(r"^([^#\n]*\bkernpack_add_module\s*\()([^)]*)\)", re.MULTILINE)
# Up to the next keyword, all in capital letters; comments lie between the files.
_SOURCES = re.compile(r"\bSOURCES((?:\s+(?:#[^\n]*\n\s*)*(?![A-Z_]+(?:\s|$)|#)\S+)+)")
_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".cu")


class WrongName(ValueError):
    """A name that no op can have: the command line is wrong."""


class Op(NamedTuple):
    name: str
    source: Path  # of the project's folder
    test: Path


def check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise WrongName(
            f"'{name}' can't be an op's name: expected lower-case letters, digits and '_', as in fused_norm"
        )


def add(root: Path, name: str) -> Op:
    """Writes the op's files and names the source in CMakeLists.txt. ValueError or FileExistsError where that can't be; then nothing
    was written."""
    check_name(name)
    project = Project(root)
    try:
        package = _module(project)
    except BuildError as error:
        raise ValueError(str(error)) from None
    lists = root / "CMakeLists.txt"
    text = lists.read_text(encoding="utf-8") if lists.is_file() else ""
    listed = _sources(lists, text)
    home = _home(root, listed)
    op = Op(name, home.parent / f"{name}.cc", Path("tests") / f"test_{name}.py")
    _refuse_taken(root, op)
    words = {"my_kernels": package, "my_op": name, "MyOp": "".join(part.capitalize() for part in name.split("_"))}
    for source, target in (("src/my_op.cc.in", op.source), ("tests/test_my_op.py.in", op.test)):
        content = (_FILES / source).read_text(encoding="utf-8")
        for word, value in words.items():
            content = content.replace(word, value)
        (root / target).parent.mkdir(parents=True, exist_ok=True)
        (root / target).write_text(content, encoding="utf-8")
    lists.write_text(f"{text[: listed.end]} {op.source.as_posix()}{text[listed.end :]}", encoding="utf-8")
    return op


def _module(project: Project) -> str:
    """The name that kernpack.load takes."""
    name = project.name
    points = project.settings()["project"].get("entry-points", {}).get("kernpack.modules", {})
    return next(iter(points), re.sub(r"[-.]+", "_", name).lower())


class _Listed(NamedTuple):
    """The files after SOURCES in a CMakeLists.txt, and where its text goes on behind them."""

    files: tuple[str, ...]
    end: int


def _sources(lists: Path, text: str) -> _Listed:
    calls = [call for call in _MODULE_CALL.finditer(text) if _SOURCES.search(call[2])]
    if len(calls) != 1:
        found = f"{len(calls)} of them" if calls else "none"
        raise ValueError(
            f"{lists}: expected one kernpack_add_module(... SOURCES ...), found {found}; `kernpack new NAME` starts a project that "
            "add-op understands"
        )
    (call,) = calls
    sources = _SOURCES.search(call[2])
    assert sources is not None
    files = re.sub(r"#[^\n]*", "", sources[1]).split()
    return _Listed(tuple(files), call.start(2) + sources.end())


def _home(root: Path, listed: _Listed) -> Path:
    """The source with KP_MODULE: new sources lie beside it. A module in C has a table written by hand instead."""
    for file in listed.files:
        if (root / file).is_file() and re.search(r"^\s*KP_MODULE\s*\(", _read(root / file), re.MULTILINE):
            return Path(file)
    raise ValueError(
        f"no source of {root / 'CMakeLists.txt'} has a line KP_MODULE(...): add-op writes C++ for modules that are made by it, and can't "
        "add to a table of functions in C"
    )


def _refuse_taken(root: Path, op: Op) -> None:
    for each in (op.source, op.test):
        if (root / each).exists():
            raise FileExistsError(f"{root / each} is there already; choose another name")
    for name in (op.name, f"{op.name}_backward"):
        exported = re.compile(rf"\bKP_EXPORT(?:_\w+\([^,]*,|\()\s*{name}\s*,")
        for source in _all_sources(root):
            if exported.search(_read(source)):
                raise FileExistsError(f"{source} exports '{name}' already; choose another name")


def _all_sources(root: Path) -> Iterator[Path]:
    for file in sorted(root.rglob("*")):
        if file.suffix in _SUFFIXES and file.is_file() and "build" not in file.relative_to(root).parts:
            yield file


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")
