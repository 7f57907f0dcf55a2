"""Device code as it is handed in: PTX, a cubin or a fatbin of several, and what it says of its kernels."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from kernpack_compiler._imports import _cubin, _fatbin, _ptx
from kernpack_compiler._imports._entry import Entry

One: TypeAlias = bytes | str | os.PathLike[str]
Given: TypeAlias = One | Sequence[One] | Mapping[str, One]


@dataclass(frozen=True)
class Code:
    """One image. target: what runs it, "cuda -arch=sm_90" of a cubin, "cuda -arch=compute_90" of PTX."""

    data: bytes
    format: str
    target: str
    entries: Mapping[str, Entry]


def read(code: Given, who: str) -> list[Code]:
    """The images, each for another architecture. `who` begins the errors."""
    given: list[tuple[object, str, str | None]]
    if isinstance(code, Mapping):
        given = [(one, f"{who}: code[{arch!r}]", arch) for arch, one in code.items()]
    elif isinstance(code, (list, tuple)):
        given = [(one, f"{who}: code[{i}]", None) for i, one in enumerate(code)]
    else:
        given = [(code, f"{who}: code", None)]
    images = [image for one, where, arch in given for image in _images(one, where, arch)]
    if not images:
        raise ValueError(f"{who}: code: expected PTX or a cubin, got none")
    for i, image in enumerate(images):
        if image.target in {other.target for other in images[:i]}:
            raise ValueError(f"{who}: code: two images are for '{image.target}'; leave one of them out")
    return images


def _images(given: object, where: str, arch: str | None) -> list[Code]:
    """Of one file: several of a fatbin."""
    data = _read_bytes(given, where)
    if not data.startswith(_fatbin.MAGIC):
        return [_read(data, where, arch)]
    found = [_read(image, where, None) for image in _fatbin.images(data, where)]
    if arch is None:
        return found
    # As a cubin alone, that of a fatbin doesn't say whether it is for sm_90 or sm_90a: the author does.
    plain = arch.rstrip("af")
    chosen = [image for image in found if image.target.removeprefix("cuda -arch=") in (arch, plain)]
    if not chosen:
        there = ", ".join(image.target.removeprefix("cuda -arch=") for image in found) or "none"
        raise ValueError(f"{where}: expected code for {arch}, got a fatbin with code for {there}")
    return [_read(image.data, where, arch) for image in chosen]


def _read(data: bytes, where: str, arch: str | None) -> Code:
    if data.startswith(b"\x7fELF"):
        number, entries = _cubin.read(data, where)
        known, kind = f"sm_{number}", "cubin"
    else:
        name, entries = _ptx.read(data, where)
        known, kind = name.replace("sm_", "compute_"), "ptx"
    # A cubin doesn't say whether it is for sm_90 or sm_90a.
    if arch is not None and arch != known and (kind == "ptx" or arch.rstrip("af") != known):
        made_by = "PTX for" if kind == "ptx" else "a cubin for"
        raise ValueError(f"{where}: expected code for {arch}, got {made_by} {known}; compile it with -arch={arch}")
    return Code(data, kind, f"cuda -arch={arch or known}", entries)


def _read_bytes(given: object, where: str) -> bytes:
    if isinstance(given, os.PathLike):
        return Path(given).read_bytes()
    if isinstance(given, str):
        if ".target" not in given and "\n" not in given:
            raise ValueError(
                f"{where}: expected the text of PTX, the bytes of a cubin or a path, got the text {given[:60]!r}; "
                "pass pathlib.Path(...) to read a file"
            )
        return given.encode()
    if isinstance(given, (bytes, bytearray, memoryview)):
        return bytes(given)
    raise TypeError(
        f"{where}: expected the text of PTX, the bytes of a cubin or a pathlib.Path, got {type(given).__name__}"
    )
