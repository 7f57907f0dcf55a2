"""Wheels of code for single GPUs, which `kernpack split` makes: the base's modules list them, by the digest of the code."""

from __future__ import annotations

import importlib.metadata
import mmap
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

# As kernpack_sdk/slim/packs.py writes the list, and ffi/backends/cuda/packs.cc reads it.
FOLDER = "kernpack_device_code"
INSTALLED, ABSENT = "installed", "not installed"
_LIST = re.compile(rb"kernpack\.packs\.1\n((?:sm_\d+ [0-9a-f]{64} [^\n\0]+\n)+)")


class Pack(NamedTuple):
    architecture: str  # "sm_90"
    digest: str  # of its code, whose file has this name
    wheel: str  # "my-kernels-cu-sm90==1.0"


def listed(file: Path) -> Iterator[Pack]:
    """The packs that a shared object names, each as often as it has a fat binary that was divided."""
    with file.open("rb") as stream:
        if os.fstat(stream.fileno()).st_size == 0:
            return
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            for found in _LIST.finditer(content):
                for line in found[1].decode("utf-8", "replace").splitlines():
                    architecture, digest, wheel = line.split(" ", 2)
                    yield Pack(architecture, digest, wheel)


def find(pack: Pack) -> Path | None:
    """The file of its code, where its wheel is installed."""
    files = (Path(folder, FOLDER, f"{pack.digest}.fatbin").absolute() for folder in sys.path if isinstance(folder, str))
    return next((file for file in files if file.is_file()), None)


def states(files: Iterable[str | os.PathLike[str]]) -> list[dict[str, str]]:
    """The wheels that these shared objects name, and whether each is "installed", "not installed", or of another version."""
    found: dict[Pack, bool] = {}
    for file in dict.fromkeys(files):
        for pack in listed(Path(file)):
            key = pack._replace(digest="")
            found[key] = found.get(key, True) and find(pack) is not None  # a wheel has a file for each fat binary
    return [
        {"architecture": pack.architecture, "wheel": pack.wheel, "state": INSTALLED if there else _without_code(pack)}
        for pack, there in found.items()
    ]


def _without_code(pack: Pack) -> str:
    try:
        version = importlib.metadata.version(pack.wheel.partition("==")[0])
    except importlib.metadata.PackageNotFoundError:
        return ABSENT
    return f"version {version} is installed, which has the code of another build"
