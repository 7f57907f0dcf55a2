"""export_wheel(): built modules as an installable package."""

from __future__ import annotations

import functools
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

import kernpack

from kernpack_compiler import _native

if TYPE_CHECKING:
    from kernpack_compiler._imports import ImportedFunction
    from kernpack_compiler._native import TargetSpec
    from kernpack_compiler._native.ir import IRModule

_METADATA = """\
Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: {summary}
Requires-Python: >=3.11
Requires-Dist: kernpack>={host},<2
"""
_WHEEL = """\
Wheel-Version: 1.0
Generator: kernpack-compiler {host}
Root-Is-Purelib: false
Tag: py3-none-any
"""
_VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[a-z0-9]+(\.[a-z0-9]+)*)?")


class Exported(Protocol):
    """The part of BuiltModule that a wheel needs."""

    ir: IRModule
    checked: bool

    @property
    def name(self) -> str: ...
    def export_library(self, path: str | os.PathLike[str]) -> Path: ...


def export_wheel(
    modules: Sequence[Exported | ImportedFunction],
    folder: str | os.PathLike[str],
    name: str,
    version: str,
    *,
    target: TargetSpec | None = None,
    summary: str = "Kernels that Kernpack generated",
) -> Path:
    """Writes a wheel of the modules to a folder, and returns its path. Modules of one name load as one: with functions of
    different names, or the same functions for different targets. Functions that import_kernel() made are modules' parts:
    they go into the module of the others.

    name: of the package, "my-kernels"; kernpack.load("my_kernels") finds it once the wheel is installed.
    version: as in PyPI's rules (PEP 440).
    target: the target of the modules in the wheel, "llvm -mtriple=aarch64-linux-gnu" for another machine; None: each
        module's own.

    The wheel is for every Python and tagged by the machine and the oldest system that its code runs on. Needs kernpack-sdk
    with auditwheel and wheel (ImportError otherwise). ValueError for an invalid name or version; errors of
    export_library() for a target.
    """
    if not re.fullmatch(r"[A-Za-z]([A-Za-z0-9._-]*[A-Za-z0-9])?", name):
        raise ValueError(f"export_wheel: name: expected a package's name such as 'my-kernels', got {name!r}")
    if not _VERSION.fullmatch(version):
        raise ValueError(f"export_wheel: version: expected a version such as '1.0.0', got {version!r}")
    if not modules:
        raise ValueError("export_wheel: expected at least one module")
    package = re.sub(r"[-_.]+", "_", name).lower()
    writers = _writers(modules, package, target)
    tools = _tools()
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary) / "tree"
        (tree / package).mkdir(parents=True)
        for index, write in enumerate(writers):
            library = f"{package}_{index}.so" if index else f"{package}.so"
            write(tree / package / library)
        _write_information(tree / f"{package}-{version}.dist-info", package, name, version, summary)
        return tools.pack(tree, Path(folder))


def _writers(
    given: Sequence[Exported | ImportedFunction], package: str, target: TargetSpec | None
) -> list[Callable[[Path], object]]:
    """Functions that write the shared objects of the wheel: one for each module, and one for all imported functions."""
    from kernpack_compiler._imports import ImportedFunction, ImportedModule
    from kernpack_compiler._imports._module import export, make_target

    functions = [one for one in given if isinstance(one, ImportedFunction)]
    modules = [one for one in given if not isinstance(one, ImportedFunction)]
    names = sorted({module.name for module in modules})
    if len(names) > 1:
        raise ValueError(f"export_wheel: expected modules of one name, got {', '.join(names)}: they load as one module")
    writers: list[Callable[[Path], object]] = []
    for module in modules:
        if target is None:
            writers.append(module.export_library)
        elif isinstance(module, ImportedModule):
            writers.append(functools.partial(module.export_library, host=target))
        else:
            writers.append(functools.partial(_export_for, module, target))
    if functions:
        name = names[0] if names else package
        writers.append(lambda path: export(functions, name, path, make_target(target)))
    return writers


def _export_for(module: Exported, target: TargetSpec, path: Path) -> None:
    _native.export_library(module.ir, target, str(path), module.checked)


def _write_information(folder: Path, package: str, name: str, version: str, summary: str) -> None:
    host = kernpack.__version__
    files = {
        "METADATA": _METADATA.format(name=name, version=version, summary=summary, host=host),
        "WHEEL": _WHEEL.format(host=host),
        "entry_points.txt": f"[kernpack.modules]\n{package} = {package}\n",
        "RECORD": "",
    }
    folder.mkdir()
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")


def _tools() -> ModuleType:
    try:
        from kernpack_sdk import wheel
    except ImportError as error:
        raise ImportError(
            f"export_wheel needs the tools that make wheels: pip install kernpack-sdk auditwheel wheel ({error})"
        ) from error
    return wheel
