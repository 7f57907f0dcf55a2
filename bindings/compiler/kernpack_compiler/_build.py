"""build(): an IRModule becomes a module of kernels."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kernpack
from kernpack import _core
from kernpack._load import announce

from kernpack_compiler import _native
from kernpack_compiler._native import Target
from kernpack_compiler._native.ir import IRModule, PrimFunc
from kernpack_compiler._wheel import export_wheel

if TYPE_CHECKING:
    from kernpack_compiler._native import TargetSpec


class BuiltModule(kernpack.Module):
    """A module that build() made. Its functions are kernels like any other: k.softmax(x) takes NumPy, torch and JAX arrays.

    ir: the IRModule that was built. target: its target. checked: whether it checks its accesses.
    """

    ir: IRModule
    target: Target
    checked: bool
    table: int

    def __init__(self, made: int | str, module: IRModule, target: Target, checked: bool = False) -> None:
        self.table = made if isinstance(made, int) else 0  # address of the module's table, where it came from no file
        path = "" if isinstance(made, int) else made
        super().__init__(_core.load((made,), 0) if isinstance(made, str) else _core.adopt(made), path, by_path=True)
        self.ir = module
        self.target = target
        self.checked = checked

    @property
    def source(self) -> str:
        """The generated code in readable form. RuntimeError if the generator can't show its code."""
        return _native.source(self.ir, self.target, self.checked)

    def export_library(self, path: str | os.PathLike[str]) -> Path:
        """Writes a shared object that kernpack.load() and apache-tvm-ffi load, and that needs no compiler to run.

        RuntimeError if a tool is missing, or the generator can't export.
        """
        library = Path(path)
        _native.export_library(self.ir, self.target, os.fspath(library.absolute()), self.checked)
        return library

    def export_wheel(self, folder: str | os.PathLike[str], name: str, version: str, **options: Any) -> Path:
        """Writes a wheel that holds this module: export_wheel([self], ...)."""
        return export_wheel([self], folder, name, version, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(build, checked=self.checked), (self.ir, self.target)


def build(module: IRModule | PrimFunc | str, target: TargetSpec | None = None, *, checked: bool = False) -> BuiltModule:
    """Compiles a module, one function, or the text of either, for a target; None is the module's own.

    checked: an access of the module out of range is an IndexError of the call that names function, access, axis, index and
        extent, and uses no memory. For debugging: calls are slower, and on a device they wait for their launches.

    Raises the errors of the verifier (with the position), ValueError for an invalid target, RuntimeError for a kind
    without a generator; it lists the kinds that have one, and why others don't.
    """
    module = _to_module(module, "build")
    made = _native.build(module, target, checked)
    built = BuiltModule(made, module, Target(target if target is not None else module.target or ""), checked)
    announce(built)
    return built


def export_library(
    module: IRModule | PrimFunc | str,
    path: str | os.PathLike[str],
    target: TargetSpec | None = None,
    *,
    checked: bool = False,
) -> Path:
    """Writes a shared object, or an object where the path ends in .o, without loading it: also for another machine's target,
    whose code does not run here. Returns the path. Arguments and errors as in build() and BuiltModule.export_library().
    """
    library = Path(path)
    _native.export_library(_to_module(module, "export_library"), target, os.fspath(library.absolute()), checked)
    return library


def _to_module(module: IRModule | PrimFunc | str, who: str) -> IRModule:
    if isinstance(module, str):
        return IRModule.parse(module)
    if isinstance(module, PrimFunc):
        return IRModule([module])
    if not isinstance(module, IRModule):
        kind = type(module).__name__
        hint = "; build_imported() builds those" if kind == "ImportedFunction" else ""
        raise TypeError(f"{who}: expected an IRModule, a PrimFunc or their text, got {kind}{hint}")
    return module


def register_generator(
    kind: str,
    build: Callable[[IRModule, Target], kernpack.Module | str | os.PathLike[str]],
    *,
    export_library: Callable[[IRModule, Target, str], None] | None = None,
    source: Callable[[IRModule, Target], str] | None = None,
    replace: bool = False,
) -> None:
    """Registers a generator for the whole process: C++ finds it as the packed function target.build.<kind>.

    kind: a target kind; add_target_kind() registers a new one.
    build: returns the path of a shared object with the code, or a module loaded from one. It gets a verified module, as
        it was written; ir.lower() is what other generators run first.
    export_library: writes a shared object to a path.
    source: the code as text.

    ValueError if the kind has a generator, unless `replace`, or if there is no such kind.
    """
    _native.TargetKind.get(kind)

    def packed(module: IRModule, target: Target) -> int | str:
        made = build(module, target)
        if isinstance(made, BuiltModule) and made.table:
            return made.table
        if isinstance(made, kernpack.Module):
            return made.path
        if not isinstance(made, (str, os.PathLike)):
            raise TypeError(
                f"{kind}: expected the generator to return a path or a kernpack.Module, got {type(made).__name__}"
            )
        return os.fspath(made)

    if replace:
        remove_generator(kind)  # with what the new one may not offer
    kernpack.register_func(f"target.build.{kind}", packed)
    if export_library is not None:
        kernpack.register_func(f"target.export.{kind}", export_library)
    if source is not None:
        kernpack.register_func(f"target.source.{kind}", source)


def remove_generator(kind: str) -> None:
    """Removes a kind's generator; modules that it built stay usable."""
    for name in {f"target.{service}.{kind}" for service in ("build", "export", "source")} & set(kernpack.list_funcs()):
        kernpack.remove_func(name)
