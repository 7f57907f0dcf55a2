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

    ir: the IRModule as it was given. target: what it is compiled for. checked: whether its accesses are checked.
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
        """The code that the generator wrote, for a person to read. RuntimeError where the generator has none to show."""
        return _native.source(self.ir, self.target, self.checked)

    def export_library(self, path: str | os.PathLike[str]) -> Path:
        """Writes a shared object that kernpack.load() and apache-tvm-ffi load, and that needs no compiler to run.

        RuntimeError when a tool is missing or the generator cannot; it says which.
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
    """Compiles a module, one function, or the text of either, for a target; the module's own when None.

    checked: an access of the module out of range is an IndexError of the call that names function, access, axis, index and
        extent, and touches no memory. For debugging: it costs time, and a call on a device waits for its launches.

    Raises what the verifier finds (with the position), ValueError for a target that is not sound, RuntimeError for a kind
    without a generator: it lists those there are, and why others are not.
    """
    module = _module_of(module, "build")
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
    whose code does not run here. Gives the path. Arguments and errors as build()'s and BuiltModule.export_library()'s.
    """
    library = Path(path)
    _native.export_library(_module_of(module, "export_library"), target, os.fspath(library.absolute()), checked)
    return library


def _module_of(module: IRModule | PrimFunc | str, who: str) -> IRModule:
    if isinstance(module, str):
        return IRModule.parse(module)
    if isinstance(module, PrimFunc):
        return IRModule([module])
    if not isinstance(module, IRModule):
        raise TypeError(f"{who}: expected an IRModule, a PrimFunc or their text, got {type(module).__name__}")
    return module


def register_generator(
    kind: str,
    build: Callable[[IRModule, Target], kernpack.Module | str | os.PathLike[str]],
    *,
    export_library: Callable[[IRModule, Target, str], None] | None = None,
    source: Callable[[IRModule, Target], str] | None = None,
    replace: bool = False,
) -> None:
    """Makes a generator known to the whole process: C++ finds it as the packed function target.build.<kind>.

    kind: of targets; add_target_kind() makes one of your own.
    build: gives the path of a shared object that holds the code, or a module loaded from one. It gets a verified module, as
        it was written; ir.lower() is what other generators run first.
    export_library: writes a shared object to a path.
    source: the code as text.

    ValueError when the kind has a generator, unless `replace`, or when there is no such kind.
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
                f"{kind}: expected a path or a kernpack.Module as what the generator gives, got {type(made).__name__}"
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
    """Forgets a kind's generator; modules that it made stay."""
    for name in {f"target.{service}.{kind}" for service in ("build", "export", "source")} & set(kernpack.list_funcs()):
        kernpack.remove_func(name)
