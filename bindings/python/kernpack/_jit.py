"""CUDA C++ that modules carry, which is compiled on the machine that runs it: finding it in files, and compiling it ahead."""

from __future__ import annotations

import hashlib
import mmap
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kernpack import _core

# The first line of a record; ffi/backends/cuda/jit_source.cc reads the rest.
_MAGIC = b"kernpack.cuda.1\nkernels "


@dataclass(frozen=True)
class Source:
    name: str  # "src/rows.cu"
    kernels: tuple[str, ...]  # instances of templates that the module names
    text: str

    @property
    def stand_in(self) -> str | None:
        """The architecture of the PTX that runs while a kernel is compiled: "compute_80"."""
        found = re.search(r"\nstand-in\n.*?\.target sm_(\d+[af]?)", self.text, re.DOTALL)
        return f"compute_{found[1]}" if found else None

    @property
    def units(self) -> tuple[str, ...]:
        """The parts that are compiled one by one: "" has all kernels that aren't templates."""
        instances = tuple(kernel for kernel in self.kernels if "<" in kernel)
        written = self.text[self.text.find("\nsource ") :]
        declared = [part for part in re.split(r"[;}]", written) if "__global__" in part]
        return ("", *instances) if any("template" not in part for part in declared) else instances


@dataclass(frozen=True)
class Built:
    source: str
    unit: str
    arch: str
    compiled: bool  # False: it was in the cache


def sources(path: str | os.PathLike[str]) -> list[Source]:
    """The sources in a shared object, each once. The file isn't loaded."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return []
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return list(dict.fromkeys(_records(data)))


def _records(data: mmap.mmap) -> Iterator[Source]:
    at = data.find(_MAGIC)
    while at >= 0:
        end = data.find(b"\0", at)
        text = data[at : end if end >= 0 else len(data)].decode("utf-8", "surrogateescape")
        lines = text.split("\n", 2)
        kernels = tuple(word for part in lines[1].removeprefix("kernels ").split(";") if (word := part.strip()))
        named = text.find("\nsource ")
        if named >= 0:
            yield Source(text[named + 8 :].partition("\n")[0].partition(" ")[2], kernels, text)
        at = data.find(_MAGIC, at + len(text))


@dataclass(frozen=True)
class Cached:
    architecture: str
    units: tuple[str, ...]  # of Source.units
    nvrtc: tuple[str, ...]  # the versions that compiled them


_NUMBERS = range(50, 200)  # compute capabilities, without the dot


def cached(source: Source) -> list[Cached]:
    """The parts of a source that are in the cache, by architecture. Names of entries tell: nothing is read or loaded."""
    from kernpack._compile import cache_dir

    folder = Path(cache_dir()) / "cuda"
    if not folder.is_dir():
        return []
    there = set(os.listdir(folder))
    # As JitSource::digest and BuildJit of ffi/backends/cuda make names of folders.
    digest = hashlib.sha256(source.text.encode("utf-8", "surrogateescape") + b"\0").hexdigest()
    found = []
    for architecture in (f"{kind}_{number}" for kind in ("sm", "compute") for number in _NUMBERS):
        versions: dict[str, set[str]] = {}
        for unit in source.units:
            key = hashlib.sha256(f"{digest}\n{architecture}\n{unit}".encode("utf-8", "surrogateescape")).hexdigest()
            names = {entry.stem.partition("-")[0] for entry in (folder / key).glob("*.bin")} if key in there else set()
            if names:
                versions[unit] = names
        if versions:
            found.append(Cached(architecture, tuple(versions), tuple(sorted(set().union(*versions.values())))))
    return found


def facts(file: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Of each source of a shared object, for `kernpack explain` and `kernpack inspect`."""
    return [
        {
            "source": source.name,
            "kernels": list(source.kernels),
            "compilations": len(source.units),
            "stand_in": source.stand_in,
            "cached": [asdict(each) for each in cached(source)],
        }
        for source in sources(file)
    ]


def lines(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Of facts(), for people."""
    for each in found:
        kernels = ", ".join(each["kernels"]) or "none named"
        yield f"CUDA source {each['source']}: kernels: {kernels}"
        if each["stand_in"]:
            yield f"  PTX of {each['stand_in']} runs while they are compiled"
        for row in each["cached"]:
            count = f"{len(row['units'])} of {each['compilations']} compilations"
            yield f"  in the cache for {row['architecture']}: {count}, by NVRTC {' and '.join(row['nvrtc'])}"
        if not each["cached"]:
            yield "  the cache has nothing of it"


def compile_ahead(found: Sequence[Source], archs: Sequence[str], jobs: int) -> Iterator[Built | Exception]:
    """Compiles every unit for each architecture into the cache, `jobs` at a time."""
    compile_one = _function("kernpack.cuda.compile")

    def build(work: tuple[Source, str, str]) -> Built | Exception:
        source, unit, arch = work
        try:
            return Built(source.name, unit, arch, bool(compile_one(source.text, unit, arch)))
        except Exception as error:
            return error

    wanted = [(source, unit, arch) for source in found for arch in archs for unit in source.units]
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(build, wanted)


def compiler() -> str:
    """ "13.5 at /.../libnvrtc.so.13"; RuntimeError that says how to get one."""
    return str(_function("kernpack.cuda.compiler")())


def _function(name: str) -> Any:
    """Of the CUDA backend, which registers it when it is opened; no device is needed."""
    from kernpack._load import tell_folders

    tell_folders()
    _core.device_count("cuda")
    function = _core.global_get(name)
    if function is None:
        raise RuntimeError("this kernpack has no CUDA backend: pip install --force-reinstall kernpack")
    return function


def files_of(name: str) -> list[Path]:
    """The shared objects that a name stands for: of an installed package, or a path."""
    from kernpack._load import looks_like_path, package_files, path_files

    return path_files(Path(name)) if looks_like_path(name) else package_files(name)
