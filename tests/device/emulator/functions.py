"""Which functions of CUDA other programs ask for, and which the emulated device has. Writes docs/cuda-functions.md.

`functions.py WHEELS SOURCES LIBRARY PAGE`: WHEELS has wheels of PyPI, SOURCES a folder of sources for each of FOLDERS that
it has, LIBRARY is libkernpack_cuda_emulator.so.
"""

from __future__ import annotations

import ctypes
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = {
    "torch": ["torch-"],
    "Triton": ["triton-"],
    "numba": ["numba_cuda-"],
    "CuPy": ["cupy_cuda13x-"],
    "JAX": ["jax_cuda13_plugin-", "jax_cuda13_pjrt-"],
    "TileLang": ["tilelang-"],
}
FOLDERS = {"CUTLASS": "cutlass", "samples": "cuda-samples"}
# NVIDIA's own tools, code for other devices, tables of names, and copies of other projects.
LEFT_OUT = re.compile(r"hipify|/amd/|libstub_(hip|ascend)|/cupti|/3rdparty/|/include/|_enum\.cpython|functorch")
SOURCE = re.compile(r"\.(py|pyx|pxd|c|cc|cpp|cu|cuh|h|hpp|inl)$")
IN_SOURCE = re.compile(rb"\b(cu(?:da)?[A-Z]\w{3,})\b")
IN_BINARY = re.compile(rb"(?<=\x00)(cu(?:da)?[A-Z][A-Za-z0-9_]{3,60})(?=\x00)")
# CuPy's functions have the names of CUDA's.
IN_CYTHON = re.compile(rb"cupy_backends\.cuda\.api\.(runtime|driver)\.(\w+)")
LIST = re.compile(r"X\((\w+)\)")
PAGE = """# Which functions of CUDA other programs ask for

`make cuda-census` wrote this page. It looks for the names of functions of the CUDA driver and the CUDA
runtime library in the wheels of other projects: in the symbols and strings of their libraries, and in
their Python sources; for CUTLASS and NVIDIA's samples in their sources. A name that is found isn't
always called. A function that the [emulated device](emulator.md) doesn't have returns error 801, and
says its name at the first call.

Libraries that have nearly all names say nothing about their program: NVIDIA's runtime library is linked
into them, or a stub for each function, as in all libraries of JAX. They aren't counted; of CuPy, the
names of its own functions are counted instead. Versions of a function (`_v2`) count as one.

{summary}

## Functions that aren't there

{missing}

## Functions that are there

{there}
"""


def read_names(path: Path) -> set[str]:
    return set(LIST.findall(path.read_text(encoding="utf-8")))


def base(name: str) -> str:
    return re.sub(r"(_v\d+)?(_ptsz|_ptds)?$", "", name)


def cuda_name(kind: str, name: str) -> str:
    return ("cuda" if kind == "runtime" else "cu") + name[0].upper() + name[1:]


def members(wheel: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(wheel) as file:
        for name in file.namelist():
            if not LEFT_OUT.search(name) and (".so" in name or SOURCE.search(name)):
                yield name, file.read(name)


def in_wheel(wheel: Path, known: set[str]) -> set[str]:
    runtime = {name for name in known if re.match("cuda[A-Z]", name)}
    apis = (runtime, known - runtime)
    asked: set[str] = set()
    for name, data in members(wheel):
        binary = ".so" in name
        if not binary and not name.endswith(".py") and "/backends/nvidia/" not in name:
            continue
        pattern = IN_BINARY if binary else IN_SOURCE
        found = {text.decode() for text in pattern.findall(data)} & known
        if binary and any(len(found & api) > 0.6 * len(api) for api in apis):
            found = {cuda_name(kind.decode(), name.decode()) for kind, name in IN_CYTHON.findall(data)} & known
        asked |= found
    return asked


def in_folder(folder: Path, known: set[str]) -> set[str]:
    asked: set[str] = set()
    for file in folder.rglob("*"):
        if SOURCE.search(file.name) and file.is_file():
            asked |= {text.decode() for text in IN_SOURCE.findall(file.read_bytes())} & known
    return asked


def table(heads: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [heads, ["--"] * len(heads), *rows])


def main(wheels: Path, sources: Path, library: Path, page: Path) -> None:
    lists = Path(__file__).resolve().parents[3] / "bindings/emulator/drop_in"
    known = read_names(lists / "driver_names.h") | read_names(lists / "runtime_names.h")
    emulated = ctypes.CDLL(str(library))
    find = {start: sorted(wheels.glob(f"{start}*.whl")) for starts in PROGRAMS.values() for start in starts}
    for start, found in find.items():
        if len(found) != 1:
            raise SystemExit(f"{wheels}: expected one wheel {start}*.whl; there are {len(found)}")
    asked: dict[str, set[str]] = {}
    versions: dict[str, str] = {}
    for program, starts in PROGRAMS.items():
        asked[program] = set().union(*(in_wheel(find[start][0], known) for start in starts))
        versions[program] = find[starts[0]][0].name.split("-")[1]
        print(f"{program}: {len(asked[program])} names", flush=True)
    for program, folder in FOLDERS.items():
        if not (sources / folder).is_dir():
            raise SystemExit(f"{sources / folder}: expected a folder with the sources")
        asked[program] = in_folder(sources / folder, known)
        versions[program] = "sources"
    there = {base(name) for name in known if hasattr(emulated, name)}
    by: dict[str, list[str]] = {}
    for program, names in asked.items():
        for name in sorted({base(each) for each in names}):
            by.setdefault(name, []).append(program)
    summary = []
    for program, names in asked.items():
        bases = {base(name) for name in names}
        row = [program, versions[program]]
        for of_runtime in (False, True):
            kind = {name for name in bases if name.startswith("cuda") == of_runtime}
            row.append(f"{len(kind & there)} of {len(kind)}" if bases else "a stub for each function")
        summary.append(row)
    rows = {True: [], False: []}  # type: dict[bool, list[list[str]]]
    for name in sorted(by, key=lambda each: (-len(by[each]), each)):
        rows[name in there].append([f"`{name}`", ", ".join(by[name])])
    page.write_text(
        PAGE.format(
            summary=table(["program", "version", "of the driver", "of the runtime library"], summary),
            missing=table(["function", "in"], rows[False]),
            there=table(["function", "in"], rows[True]),
        ),
        encoding="utf-8",
    )
    print(f"{page}: {len(by)} functions, {len(rows[False])} of them missing")


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:5]))
