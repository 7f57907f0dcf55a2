"""Remakes the golden binaries: python tests/abi/golden/make.py (`make golden`).

They are modules as today's SDK builds them, kept so that every later host proves that it still runs them. Once ABI 1.0 is frozen
nothing remakes 1.0/. Needs gcc, clang-19 and an installed kernpack-compiler; two runs with the same tools give the same bytes.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "1.0"
MOST_BYTES = 1_000_000  # of all binaries together
_INCLUDE = "-I../../../../ffi/include"
_SHARED = ("-O2", "-s", "-shared", "-fPIC", "-fvisibility=hidden", "-Wl,--build-id=none", _INCLUDE)
_CXX = ("-std=c++17", "-ffunction-sections", "-Wl,--gc-sections")
COMPILED = {
    "c_gcc": ("gcc", "-std=c99", *_SHARED, "module.c"),
    "c_clang": ("clang-19", "-std=c99", *_SHARED, "module.c"),
    "cxx_gcc": ("g++", "-fno-gnu-unique", *_CXX, *_SHARED, "module.cc"),
    "cxx_clang": ("clang++-19", *_CXX, *_SHARED, "module.cc"),
    "backend": ("gcc", "-std=c99", *_SHARED, "backend.c"),
}
# The target of kernels.py's module. The baseline processor: what runs everywhere.
GENERATED = {"generated_c": "c", "generated_llvm": "llvm -mcpu=x86-64"}


def make() -> None:
    for stale in FOLDER.glob("*.so"):
        stale.unlink()
    commands = []
    for name, command in COMPILED.items():
        words = [*command, "-o", f"{name}.so"]
        subprocess.run(words, cwd=FOLDER, check=True)
        commands.append(shlex.join(words))
    module = _kernels().MODULE
    import kernpack_compiler

    for name, target in GENERATED.items():
        kernpack_compiler.export_library(module, FOLDER / f"{name}.so", target)
        commands.append(f"kernpack_compiler.export_library(kernels.MODULE, '{name}.so', '{target}')")
    # The C text that the rehearsal compiles against the headers of other versions.
    (FOLDER / "generated.c.txt").write_text(kernpack_compiler.build(module, "c").source)
    commands.append("kernpack_compiler.build(kernels.MODULE, 'c').source, written to generated.c.txt")
    (FOLDER / "commands.txt").write_text("".join(f"{line}\n" for line in commands))


def _kernels():
    spec = importlib.util.spec_from_file_location("kernels", FOLDER / "kernels.py")
    kernels = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernels)
    return kernels


def main() -> None:
    os.umask(0o022)
    make()
    sizes = {path.name: path.stat().st_size for path in sorted(FOLDER.glob("*.so"))}
    for name, size in sizes.items():
        print(f"{size:>9,}  {name}")
    total = sum(sizes.values())
    print(f"{total:>9,}  bytes in all, of at most {MOST_BYTES:,}")
    if total > MOST_BYTES:
        sys.exit("the golden binaries have grown too large")


if __name__ == "__main__":
    main()
