"""Imported functions as a module that this process calls, or that is exported."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernpack._load import announce

from kernpack_compiler import _native
from kernpack_compiler._build import BuiltModule
from kernpack_compiler._imports._function import ImportedFunction
from kernpack_compiler._native import Target
from kernpack_compiler._native.ir import IRModule

if TYPE_CHECKING:
    from kernpack_compiler._native import TargetSpec


class ImportedModule(BuiltModule):
    """A module that build_imported() made, called as any other.

    imported: its functions. ir: how they launch their kernels.
    """

    imported: tuple[ImportedFunction, ...]
    # BuiltModule's, declared once more: the reference lists attributes of a class where it is asked for inherited members.
    ir: IRModule
    target: Target
    checked: bool
    table: int

    def __init__(self, functions: Sequence[ImportedFunction], name: str, host: TargetSpec | None = None) -> None:
        module, images, kernels = _rows(functions, name)
        target = make_target(host)
        super().__init__(_native.build_imported(module, images, kernels, target), module, target)
        self.imported = tuple(functions)

    @property
    def source(self) -> str:
        """How the functions launch their kernels, as text of the IR."""
        return str(self.ir)

    def export_library(self, path: str | os.PathLike[str], *, host: TargetSpec | None = None) -> Path:
        """Writes a shared object, as BuiltModule.export_library(). host: the processor of the functions that launch, if
        it isn't this machine's: "llvm -mtriple=aarch64-linux-gnu".
        """
        library = Path(path)
        export(self.imported, self.name, library, self.target if host is None else make_target(host))
        return library

    def __reduce__(self) -> tuple[Any, ...]:
        return build_imported, (self.imported, self.name)


def build_imported(
    functions: ImportedFunction | Sequence[ImportedFunction], name: str = "module", *, host: TargetSpec | None = None
) -> ImportedModule:
    """Makes a module of functions that import_kernel(), import_triton() or import_tilelang() made; NumPy, torch and JAX call it.

    name: the module's. host: the target of the functions that launch; by default this machine.
    """
    chosen = [functions] if isinstance(functions, ImportedFunction) else list(functions)
    built = ImportedModule(chosen, name, host)
    announce(built)
    return built


def export(functions: Sequence[ImportedFunction], name: str, path: Path, target: Target) -> None:
    """Writes a shared object without loading it."""
    module, images, kernels = _rows(functions, name)
    _native.export_imported(module, images, kernels, target, os.fspath(path.absolute()))


def make_target(host: TargetSpec | None) -> Target:
    """Of a module of imported kernels, whose functions run on that host."""
    return Target("cuda") if host is None else Target("cuda", host)


def _rows(functions: Sequence[ImportedFunction], name: str) -> tuple[IRModule, list[Any], list[Any]]:
    for function in functions:
        if not isinstance(function, ImportedFunction):
            raise TypeError(
                f"build_imported: expected what import_kernel() or import_triton() made, got {type(function).__name__}"
            )
    if not functions:
        raise ValueError("build_imported: expected at least one function")
    images: dict[tuple[str, str, bytes], int] = {}
    kernels = []
    for function in functions:
        for stands, binary, cluster in function.kernels:
            row = (binary.code.target, binary.code.format, binary.code.data)
            image = images.setdefault(row, len(images))
            parameters = [(p.argument, p.map, p.tensor) for p in binary.parameters]
            kernels.append(
                (
                    stands,
                    binary.entry.name,
                    image,
                    binary.multiples,
                    binary.shared,
                    cluster,
                    binary.cooperative,
                    parameters,
                )
            )
    module = IRModule([f for function in functions for f in function.functions], name)
    return module, list(images), kernels
