"""The modules that a command line names: by a file (.so), a wheel, a folder, or an installed package, by pip's name or Python's."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kernpack_sdk import archive, check
from kernpack_sdk.audit.package import is_shared_object, normalized

ENTRY_POINTS = (
    "kernpack.modules"  # as kernpack.load reads them: the module's name, and the Python package that holds it
)
_NAME = re.compile(r"[A-Za-z_][\w.-]*")


@contextlib.contextmanager
def modules(what: str, *, foreign: bool = False) -> Iterator[tuple[Path, list[Path]]]:
    """Where they were found, and their files, which are there until the context ends. ValueError where there are none.

    foreign: where there are none, any shared objects.
    """
    path = Path(what)
    if path.suffix == ".whl" and path.is_file():
        with tempfile.TemporaryDirectory() as folder:
            archive.unpack(path, Path(folder))
            yield path, _below(path, Path(folder), foreign)
    elif path.is_dir():
        yield path, _below(path, path, foreign)
    elif path.is_file():
        yield path, [path]
    else:
        yield installed(what, foreign=foreign)


def installed(name: str, *, foreign: bool = False) -> tuple[Path, list[Path]]:
    """The folder of an installed package, and its modules, or (foreign) else its shared objects. ValueError."""
    for package in _packages(name) if _NAME.fullmatch(name) else ():
        try:
            spec = importlib.util.find_spec(package)
        except (ImportError, ValueError):
            continue
        if places := list(spec.submodule_search_locations or []) if spec else []:
            return Path(places[0]), _below(Path(places[0]), Path(places[0]), foreign)
    raise ValueError(f"'{name}' is neither a file (.so, .whl), nor a folder, nor an installed package")


def _packages(name: str) -> Iterator[str]:
    """The names by which Python may call the package: entry points say it for a module's name, and for the name that pip installed."""
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        if name == point.name or (point.dist is not None and normalized(name) == normalized(point.dist.name)):
            yield point.value
    yield name.replace("-", "_")
    yield normalized(name).replace("-", "_")


def _below(source: Path, folder: Path, foreign: bool) -> list[Path]:
    found = [file for file in sorted(folder.rglob("*.so")) if check.is_kernel_module(file)]
    if not found and foreign:
        found = [file for file in sorted(folder.rglob("*.so*")) if is_shared_object(file)]
    if not found:
        raise ValueError(f"{source}: holds no kernel module")
    return found
