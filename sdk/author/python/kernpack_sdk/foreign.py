"""The facts about shared objects of any project, which `kernpack inspect` shows: nothing of them is loaded."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from kernpack_sdk import check, needs, shared_object
from kernpack_sdk.audit import Image, device_code, interfaces
from kernpack_sdk.audit.instructions import Disassembly

_MOST_CODE = 8 << 20  # bytes of instructions: disassembling them takes about two seconds per MiB
_LARGEST = 5  # symbols that are shown


def library(file: Path, name: str, siblings: Iterable[str]) -> dict[str, Any]:
    """Of one file, called `name`; `siblings`: the file names of shared objects that are installed with it. ValueError if it's damaged."""
    so = shared_object.read(file)
    wheels = {need.library: " or ".join(need.requirements) for need in needs.of_object(so)}
    with Image(file) as image:
        return {
            "file": name,
            "bytes": file.stat().st_size,
            "sha256": digest(file),
            "machine": shared_object.MACHINES.get(so.machine, so.machine),
            "interfaces": [dataclasses.asdict(each) for each in interfaces.read(image, so.needed)],
            "needs": {each: wheels.get(each) or _origin(each, siblings) for each in so.needed},
            "newest_symbols": newest(so.versions),
            "device_code": [dataclasses.asdict(each) for each in device_code.read(image)],
            "duplicate_device_code_bytes": device_code.count_duplicates(image),
            "instruction_sets": _instruction_sets(image),
            "largest_symbols": dict(image.largest_symbols(_LARGEST)),
        }


def newest(versions: Iterable[str]) -> dict[str, str]:
    """Of each family of symbol versions (GLIBC, GLIBCXX, ...) the newest."""
    found: dict[str, tuple[int, ...]] = {}
    for version in versions:
        family, _, number = version.rpartition("_")
        if family and all(part.isdigit() for part in number.split(".")):
            found[family] = max(found.get(family, ()), tuple(map(int, number.split("."))))
    return {family: ".".join(map(str, number)) for family, number in sorted(found.items())}


def duplicates(files: Sequence[dict[str, Any]]) -> list[list[str]]:
    """The names of files with equal contents, group by group."""
    groups: dict[str, list[str]] = defaultdict(list)
    for each in files:
        groups[each["sha256"]].append(each["file"])
    return [names for names in groups.values() if len(names) > 1]


def digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _origin(name: str, siblings: Iterable[str]) -> str | None:
    """Where a library that a file needs comes from; None: not known."""
    if name in siblings:
        return "here"
    if check.RUNTIME_LIBRARIES.match(name):
        return "system"
    return next((wheel for prefix, wheel in _WHEELS.items() if name.startswith(prefix)), None)


_WHEELS = {
    **dict.fromkeys(("libtorch", "libc10.", "libc10_", "libshm."), "torch"),
    "libtvm_ffi": "apache-tvm-ffi",
    "libpython": "Python",
    # Not in kernpack/library_table.h: modules of Kernpack use the driver, not CUDA's runtime library.
    "libcudart.so.13": "nvidia-cuda-runtime>=13,<14",
    "libcudart.so.12": "nvidia-cuda-runtime-cu12>=12,<13",
    "libgomp.so.1": "GCC's OpenMP runtime",
    "libcuda.so": "the GPU's driver",
    "libnvidia-ml.so": "the GPU's driver",
}


def _instruction_sets(image: Image) -> dict[str, Any] | None:
    """Beyond x86-64-v2; None of other machines, and where there is too much code."""
    if not image.is_x86_64 or sum(len(data) for _, data in image.code()) > _MOST_CODE:
        return None
    functions = Disassembly(image).functions.values()
    above = sorted(set().union(*(each.above for each in functions)), key=lambda name: (len(name), name))
    return {"beyond_x86_64_v2": above, "asks_the_processor": any(each.asks for each in functions)}
