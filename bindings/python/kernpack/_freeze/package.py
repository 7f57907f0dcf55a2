"""The files of a kernel package that a frozen program needs, besides Python files."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from kernpack import _packs
from kernpack._load import ENTRY_POINTS, module_files

_Files = list[tuple[str, str]]


def collected(package: str) -> tuple[_Files, _Files]:
    """Data and shared objects, each with the folder of the frozen program that it goes to."""
    from PyInstaller import isolated
    from PyInstaller.utils.hooks import collect_data_files, copy_metadata, get_package_paths

    folder = Path(get_package_paths(package)[1])
    modules = module_files(folder)
    binaries = [(str(file), package.replace(".", "/")) for file in modules]
    # In a process of its own, because libraries stay loaded.
    libraries = isolated.call(_opened, [str(file) for file in modules])
    binaries += _with_folders(dict.fromkeys(str(file) for path in libraries for file in _of_its_wheel(Path(path))))
    datas: _Files = collect_data_files(package)
    packs = (_packs.find(pack) for file in modules for pack in _packs.listed(file))
    datas += [(str(code), _packs.FOLDER) for code in dict.fromkeys(packs) if code is not None]
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        # The name that kernpack.load() is given is looked up in the metadata unless it is the package's. Else the metadata stays out:
        # its RECORD would refuse shared objects that were stripped.
        if point.value == package != point.name and point.dist is not None:
            datas += copy_metadata(point.dist.name)
    return datas, binaries


def _opened(modules: list[str]) -> list[str]:
    """The libraries of other wheels that loading these shared objects opens. Empty where one can't be loaded; PyInstaller itself warns
    of libraries that it doesn't find. Uses nothing of this file: PyInstaller takes the function's code alone to another process."""
    import json

    import kernpack
    from kernpack import _core

    for module in modules:
        try:
            kernpack.load(module)
        except (ImportError, OSError, ValueError):
            return []
    return [need["path"] for file in json.loads(_core.module_files()) for need in file["needs"]]


def _of_its_wheel(library: Path) -> Iterator[Path]:
    """The shared objects of the wheel that has the library, since libraries open others by name; none of one that is the system's."""
    if _package_folder(library) is None:
        return
    for distribution in importlib.metadata.distributions():
        found = [Path(str(file.locate())) for file in distribution.files or () if ".so" in file.name]
        if library in found:
            yield from found
            return
    yield library


def _with_folders(libraries: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each with its folder below the folder of Python's packages, in which it is looked for."""
    for library in libraries:
        folder = _package_folder(Path(library))
        if folder is not None:
            yield library, Path(library).parent.relative_to(folder).as_posix()


def _package_folder(file: Path) -> Path | None:
    folders = (Path(folder) for folder in sys.path if folder)
    return next((folder for folder in folders if file.is_relative_to(folder)), None)
