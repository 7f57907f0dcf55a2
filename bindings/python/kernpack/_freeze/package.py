"""The files of a kernel package that a frozen program needs, besides Python files."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

from kernpack._load import ENTRY_POINTS, module_files

_Files = list[tuple[str, str]]


def collected(package: str) -> tuple[_Files, _Files]:
    """Data and shared objects, each with the folder of the frozen program that it goes to."""
    from PyInstaller.utils.hooks import collect_data_files, copy_metadata, get_package_paths

    folder = Path(get_package_paths(package)[1])
    binaries = [(str(file), package.replace(".", "/")) for file in module_files(folder)]
    datas: _Files = collect_data_files(package)
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        # The name that kernpack.load() is given is looked up in the metadata unless it is the package's. Else the metadata stays out:
        # its RECORD would refuse shared objects that were stripped.
        if point.value == package != point.name and point.dist is not None:
            datas += copy_metadata(point.dist.name)
    return datas, binaries
