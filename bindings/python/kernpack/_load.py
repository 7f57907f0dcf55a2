"""Finding and loading kernel modules: by installed package, by path."""

from __future__ import annotations

import contextlib
import copyreg
import functools
import importlib.util
import itertools
import os
import re
import sys
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kernpack import _core
from kernpack._contracts import ReadContracts, read_contracts
from kernpack._imports import when_imported
from kernpack._module import Module
from kernpack._peer import announce_peer
from kernpack._suggest import did_you_mean
from kernpack._system import SUFFIX, is_module, library_file

ENTRY_POINTS = "kernpack.modules"  # name: the module's; value: the Python package whose folder holds its shared objects
_PROBE = 1


def load(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    probe: bool = False,
    contracts: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    **build: Any,
) -> Module:
    """Loads a kernel module.

    source: the name of an installed kernel package, or the path of a shared object, or of a folder of them, or several
        paths. Several objects become one module, merged by function name. Or the path of a source (.cc, .cpp, .cxx, .c, .cu) or
        several: they are compiled into one module, which is kept until a file that was read or an option changes.
    probe: load it in a child process first, so that an object that crashes while loading is an error.
    contracts: for one file that was built with apache-tvm-ffi, whose functions have no contracts: the path of a TOML file with some,
        or a dict, {"scale": "(x: f32[N]) -> (y: f32[N])"}; docs/peer.md has all that it may say.
    build: of sources: extra_cflags, extra_cuda_cflags, extra_ldflags, include_paths (or extra_include_paths), verbose,
        build_directory, with_cuda, as torch.utils.cpp_extension has them.

    Raises ImportError or FileNotFoundError if it is not found, OSError or ValueError if it isn't a valid module.
    Loading the same content again returns the same functions.
    """
    if contracts is not None:
        return _load_with_contracts(source, contracts, probe, build)
    # The most frequent one, first: each question costs a tenth of a microsecond.
    if type(source) is str and source.endswith(SUFFIX) and not build and "\0" not in source:
        return _load_path(source, probe=probe)
    if build or not isinstance(source, str) or source.endswith(_SOURCES):
        made = _from_sources(source, probe, build)
        if made is not None:
            return made
    if isinstance(source, str) and not looks_like_path(source):
        return _load_files(package_files(source), source, probe=probe, by_path=False)
    if isinstance(source, (str, os.PathLike)):
        return _load_path(_checked_path(source), probe=probe)
    if isinstance(source, bytes) or not isinstance(source, Sequence):
        raise TypeError(f"kernpack.load: expected a package name, a path or several paths, got {type(source).__name__}")
    if not source:
        raise ValueError("kernpack.load: expected a package name, a path or several paths, got none")
    files = [file for part in source for file in path_files(Path(_checked_path(part)))]
    return _load_files(files, os.pathsep.join(map(str, files)), probe=probe, by_path=True)


def _load_with_contracts(source: Any, contracts: Any, probe: bool, build: dict[str, Any]) -> Module:
    if build:
        raise TypeError(
            f"kernpack.load: {', '.join(sorted(build))}: an option for compiling, and contracts are for files that are"
        )
    is_package = isinstance(source, str) and not looks_like_path(source)
    text = source if is_package else _checked_path(source)
    files = package_files(text) if is_package else [text] if text.endswith(SUFFIX) else path_files(Path(text))
    if len(files) != 1:
        raise ValueError(
            f"kernpack.load: contracts: expected one shared object, got {len(files)} in {text}: pass the path of one"
        )
    return _load_files(files, text, probe=probe, by_path=not is_package, contracts=read_contracts(contracts))


def _from_sources(source: Any, probe: bool, build: dict[str, Any]) -> Module | None:
    """Compiles sources into a module; None if `source` names no sources."""
    several = isinstance(source, Sequence) and not isinstance(source, (str, bytes))
    files = [str(path) for path in source] if several else [str(source)]
    unknown = sorted(set(build) - set(_OPTIONS))
    if unknown:
        hint = did_you_mean(unknown[0], _OPTIONS) or f"; options are {', '.join(_OPTIONS)}"
        raise TypeError(f"kernpack.load: no option '{unknown[0]}'{hint}")
    if any(file.endswith(_SOURCES) for file in files):
        from kernpack._sources import load_sources

        return load_sources(files, probe=probe, **{name: build.get(name) for name in _OPTIONS})
    if build:
        raise TypeError(
            f"kernpack.load: {', '.join(sorted(build))}: an option for compiling sources ({', '.join(_SOURCES)}), but "
            f"{files[0]} isn't a source; leave the option out"
        )
    return None


_SOURCES = (".cc", ".cpp", ".cxx", ".c", ".cu")
_OPTIONS = (
    *("extra_cflags", "extra_cuda_cflags", "extra_ldflags", "include_paths", "extra_include_paths"),
    *("verbose", "build_directory", "with_cuda"),
)


def _checked_path(path: object) -> str:
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str):
        raise TypeError(f"kernpack.load: expected a path (str or os.PathLike), got {type(path).__name__}")
    if not text or "\0" in text:
        raise ValueError(f"kernpack.load: expected the path of a shared object or folder, got {text[:80]!r}")
    return text


def _load_path(text: str, *, probe: bool) -> Module:
    if not text.endswith(SUFFIX):
        return _load_files(path_files(Path(text)), text, probe=probe, by_path=True)
    try:
        return _load_files(
            [text], text, probe=probe, by_path=True
        )  # without asking first: a question costs microseconds
    except OSError:
        if not os.path.isdir(text) and _find_archive(text) is None:
            raise
    return _load_files(path_files(Path(text)), text, probe=probe, by_path=True)


def looks_like_path(text: str) -> bool:
    return (
        os.sep in text or text.endswith(SUFFIX) or text in (".", "..") or not re.fullmatch(r"[A-Za-z_][\w.\-]*", text)
    )


def _load_files(
    files: Sequence[str | os.PathLike[str]], source: str, *, probe: bool, by_path: bool, contracts: str | None = None
) -> Module:
    if by_path and (not source.startswith(os.sep) or os.pathsep in source):
        source = os.pathsep.join(map(os.path.abspath, source.split(os.pathsep)))
    if _told != sys.path:
        tell_folders()
    loaded = _load_shared(tuple(map(str, files)), _PROBE if probe else 0, contracts)
    module = Module(loaded, source, by_path=by_path, contracts=contracts)
    announce(module)
    return module


def _load_shared(files: tuple[str, ...], flags: int, contracts: str | None) -> Any:
    try:
        return _core.load(files, flags, contracts)
    except ImportError as error:  # from the first module that was built with apache-tvm-ffi's SDK
        if library_file("tvm_ffi").partition(".")[0] not in str(error) or not announce_peer():
            raise
    return _core.load(files, flags, contracts)


_told: list[str] = []  # sys.path as the host knows it


def tell_folders() -> None:
    """Tells the host where packages are installed: libraries of other wheels are looked for there."""
    _told[:] = sys.path
    _core.library_folders(tuple(os.fspath(folder) for folder in _told if isinstance(folder, str)))


# Those that torch's import has to hear of, in the order of their loads. A module that is gone takes its entry away, so that a process
# that keeps loading one file doesn't grow.
_announced: dict[int, weakref.ref[Module]] = {}
_loads = itertools.count()


def announce(module: Module) -> None:
    """Registers the module's functions as operators of torch, now or when it is imported."""
    number = next(_loads)
    # pop(number, <the reference>), in C: it is right when Python ends and on any thread.
    _announced[number] = weakref.ref(module, functools.partial(_announced.pop, number))
    when_imported("torch", _register_announced)


def _register_announced() -> None:
    for number in list(_announced):
        there = _announced.pop(number, None)
        module = there() if there is not None else None
        if module is not None:
            _register_with_torch(module)


def _register_with_torch(module: Module) -> None:
    try:
        from kernpack.torch import ops
    except ImportError:  # an older torch: the first of its tensors that meets a kernel says so
        return
    if module._capsule is None or not _core.module_has_signatures(module._capsule):  # closed before, or nothing to do
        return
    ops(module)
    for name in module.functions:
        # A function whose contract is refused, as one of a later ABI is, says so where it is asked for.
        with contextlib.suppress(ImportError, ValueError):
            getattr(module, name)  # torch.compile reads attributes that are there, but not how one is made


def path_files(path: Path) -> list[Path]:
    """The shared objects that a path stands for."""
    if not path.is_dir():
        archive = _find_archive(path)
        if archive is not None:
            raise FileNotFoundError(
                f"kernpack.load: {path} is inside the file {archive}: if that is a zip, unpack it, as the system can't load "
                "shared objects from one"
            )
        return [path]
    files = module_files(path)
    if not files:
        raise FileNotFoundError(f"kernpack.load: no kernel module (*{SUFFIX}) in the folder {path}")
    return files


def module_files(folder: Path) -> list[Path]:
    """The shared objects of a folder, without Python's own extension modules."""
    return sorted(file for file in folder.glob(f"*{SUFFIX}") if is_module(file.name))


def package_files(name: str) -> list[Path]:
    """The shared objects of an installed kernel package."""
    package = _entry_points().get(name, name.replace("-", "_"))  # pip's name of a package has hyphens, Python's has not
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError) as error:
        raise ImportError(f"kernpack.load: cannot look for the package '{package}': {error}") from error
    if spec is None and getattr(sys, "frozen", False):
        raise ImportError(
            f"kernpack.load: the package '{package}' isn't part of this frozen program; name it where the program is made: "
            f"--hidden-import={package} for PyInstaller, --packages={package} for cx_Freeze"
        )
    if spec is None:
        known = sorted(_entry_points())
        listed = f"nstalled kernel packages: {', '.join(known) or 'none'}"
        near = did_you_mean(package, known)
        path = f"pip install it, or pass a path such as './{package}{SUFFIX}'"
        raise ImportError(
            f"kernpack.load: no package '{package}' is installed"
            + (f"{near} I{listed}" if near else f" ({path}); i{listed}")
        )
    folders = list(spec.submodule_search_locations or ([os.path.dirname(spec.origin)] if spec.origin else []))
    files = [file for folder in folders for file in module_files(Path(folder))]
    archive = None if files else next(filter(None, map(_find_archive, folders)), None)
    if archive is not None:
        raise ImportError(
            f"kernpack.load: the package '{package}' is inside the zip file {archive}, from which the system can't load "
            "shared objects: unpack it, or install the package with pip"
        )
    if not files:
        raise ImportError(
            f"kernpack.load: the package '{package}' holds no kernel module (no *{SUFFIX} in {', '.join(folders)})"
        )
    return files


def _find_archive(path: str | os.PathLike[str]) -> Path | None:
    """The file that a path leads into, as those of packages in a zip do."""
    return next((above for above in Path(path).parents if above.is_file()), None)


def _entry_points() -> dict[str, str]:
    import importlib.metadata  # slow to import, and not needed for paths

    return {point.name: point.value for point in importlib.metadata.entry_points(group=ENTRY_POINTS)}


def installed() -> dict[str, str]:
    """Installed kernel packages that announce themselves: name -> Python package."""
    return _entry_points()


def _reload(source: str, by_path: bool, name: str, version: str, digest: str, contracts: str | None = None) -> Module:
    """Loads a pickled module: the same content, or an error."""
    if contracts is not None:
        module = load(source, contracts=ReadContracts(contracts))
    else:
        module = load(source.split(os.pathsep)) if by_path else load(source)
    if module.digest != digest:
        raise ImportError(
            f"kernpack: pickled with {name} {version} (content {digest[:12]}), but here '{source}' is {module.name} "
            f"{module.version} (content {module.digest[:12]}); install the same build on both sides"
        )
    return module


def _pickled(module: Module) -> tuple[Any, ...]:
    known = (module._source, module._by_path, module.name, module.version, module.digest)
    return _reload, known if module._contracts is None else (*known, str(module._contracts))


copyreg.pickle(Module, _pickled)  # here, since a Module doesn't know how it was found
