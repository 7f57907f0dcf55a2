"""The modules that a command line names: by a file (.so), a wheel, a folder, or an installed package, by pip's name or Python's."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kernpack_sdk import archive, check
from kernpack_sdk.audit.package import normalized, shared_objects
from kernpack_sdk.diagnose import nearest

ENTRY_POINTS = (
    "kernpack.modules"  # as kernpack.load reads them: the module's name, and the Python package that holds it
)
FOLDER = "kernpack_device_code"  # of the wheels that `kernpack split` makes for one GPU each
_NAME = re.compile(r"[A-Za-z_][\w.-]*")


class Found(NamedTuple):
    """The shared objects that a command line names. They are there until the context of `all_files` ends."""

    source: Path  # as the user knows it
    folder: Path  # that the files lie below
    files: list[Path]


@contextlib.contextmanager
def all_files(what: str) -> Iterator[Found]:
    """Kernel modules and other shared objects. ValueError where there are none."""
    path = Path(what)
    if path.suffix == ".whl" and path.is_file():
        with tempfile.TemporaryDirectory() as folder:
            archive.unpack(path, Path(folder))
            yield _below(path, Path(folder))
    elif path.is_dir():
        yield _below(path, path)
    elif path.is_file():
        yield Found(path, path.parent, [path])
    else:
        yield _installed(what)


@contextlib.contextmanager
def modules(what: str) -> Iterator[tuple[Path, list[Path]]]:
    """Where the kernel modules were found, and their files, as `all_files` has them. ValueError where there are none."""
    with all_files(what) as found:
        yield found.source, found.files if Path(what).is_file() and len(found.files) == 1 else _modules(found)


def installed(name: str) -> tuple[Path, list[Path]]:
    """The folder of an installed package, and its modules. ValueError."""
    found = _installed(name)
    return found.source, _modules(found)


def _modules(found: Found) -> list[Path]:
    files = [file for file in found.files if check.is_kernel_module(file)]
    if not files:
        raise ValueError(f"{found.source}: holds no kernel module")
    return files


def _installed(name: str) -> Found:
    for package in _packages(name) if _NAME.fullmatch(name) else ():
        try:
            spec = importlib.util.find_spec(package)
        except (ImportError, ValueError):
            continue
        if places := list(spec.submodule_search_locations or []) if spec else []:
            return _below(Path(places[0]), Path(places[0]))
    said = f"'{name}' is neither a file (.so, .whl), nor a folder, nor an installed package"
    raise ValueError(said + suggested(name))


def suggested(name: str) -> str:
    """ "; did you mean 'kernpack_kernels'?", or "" where no installed package of kernels has a name like it."""
    points = importlib.metadata.entry_points(group=ENTRY_POINTS)
    meant = nearest(name.replace("-", "_"), [point.name for point in points]) if _NAME.fullmatch(name) else None
    return f"; did you mean '{meant}'?" if meant else ""


def _packages(name: str) -> Iterator[str]:
    """The names by which Python may call the package: entry points say it for a module's name, and for the name that pip installed."""
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
        if name == point.name or (point.dist is not None and normalized(name) == normalized(point.dist.name)):
            yield point.value
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        yield from _top_level(importlib.metadata.distribution(name))
    yield name.replace("-", "_")
    yield normalized(name).replace("-", "_")


def _top_level(distribution: importlib.metadata.Distribution) -> Iterator[str]:
    """The packages that pip installed with it: `tvm_ffi` of apache-tvm-ffi."""
    first = {file.parts[0] for file in distribution.files or () if len(file.parts) > 1}
    yield from sorted(name for name in first if name.isidentifier())


def _below(source: Path, folder: Path) -> Found:
    files = shared_objects(folder)
    if not files and not any(folder.glob(f"{FOLDER}/*.fatbin")):
        raise ValueError(f"{source}: holds no kernel module or other shared object")
    return Found(source, folder, files)
