"""Compiles what the benchmarks call: our module, and each peer's with the peer's own SDK. Results are cached by content."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CACHE = Path(os.environ.get("KERNPACK_BENCH_CACHE", ROOT / ".cache" / "bench"))
CXX = os.environ.get("CXX", "g++")
CC = os.environ.get("CC", "gcc")


class BuildError(RuntimeError):
    """A compiler said no; the text is its output."""


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise BuildError(f"Python package {name} is not installed")
    return Path(next(iter(spec.submodule_search_locations)))


def python_include() -> str:
    return f"-I{sysconfig.get_paths()['include']}"


def our_flags() -> tuple[list[str], list[str]]:
    """Compile and link flags as kernpack_add_module() gives them."""
    compile_flags = ["-std=c++17", f"-I{ROOT / 'ffi' / 'include'}", "-fvisibility=hidden", "-fno-gnu-unique"]
    versions = CACHE / "module.map"
    CACHE.mkdir(parents=True, exist_ok=True)
    versions.write_text("{ global: kp_module_v1*; __tvm_ffi_*; local: *; };\n")
    hardening = "-Wl,-z,now,-z,relro,-z,nodelete,-z,start-stop-visibility=hidden"
    return compile_flags, [hardening, f"-Wl,--version-script={versions}"]


def tvm_ffi_flags() -> tuple[list[str], list[str]]:
    base = _package("tvm_ffi")
    return ["-std=c++17", f"-I{base / 'include'}"], [f"-L{base / 'lib'}", "-ltvm_ffi", f"-Wl,-rpath,{base / 'lib'}"]


def pybind11_flags() -> tuple[list[str], list[str]]:
    return ["-std=c++17", "-fvisibility=hidden", f"-I{_package('pybind11') / 'include'}", python_include()], []


def nanobind_flags() -> tuple[list[str], list[str]]:
    base = _package("nanobind")
    includes = [f"-I{base / 'include'}", f"-I{base / 'ext' / 'robin_map' / 'include'}", python_include()]
    return ["-std=c++17", "-fvisibility=hidden", "-DNDEBUG", *includes], [str(base / "src" / "nb_combined.cpp")]


def run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def shared_object(source: Path, name: str, flags: tuple[list[str], list[str]], compiler: str = CXX) -> Path:
    """`name`.so from one source file, -O2 and stripped; compiled only when source, flags or headers of ours changed."""
    compile_flags, link_flags = flags
    key = hashlib.sha256(source.read_bytes())
    key.update("\0".join([compiler, sys.version, name, *compile_flags, *link_flags]).encode())
    if any(str(ROOT) in flag for flag in compile_flags):
        for header in sorted((ROOT / "ffi" / "include").rglob("*.h")):
            key.update(header.read_bytes())
    folder = CACHE / key.hexdigest()[:16]
    target = folder / f"{name}.so"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f"{name}.partial.so"
        base = [compiler, "-O2", "-fPIC", "-shared", "-s"]
        run([*base, *compile_flags, str(source), "-o", str(partial), *link_flags])
        partial.rename(target)
    return target


def cpp_program(name: str) -> Path:
    """A program of tests/bench/cpp, built by CMake against this tree; needs Google Benchmark (Debian: libbenchmark-dev)."""
    folder = CACHE / "cpp"
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DKERNPACK_BUILD_TESTS=OFF", "-DKERNPACK_BUILD_BENCH=ON"]
    if ccache := shutil.which("ccache"):
        options += [f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}", f"-DCMAKE_C_COMPILER_LAUNCHER={ccache}"]
    run(["cmake", "-S", str(ROOT), "-B", str(folder), *options])
    run(["cmake", "--build", str(folder), "--target", name, "--parallel", str(os.cpu_count() or 1)])
    return folder / "tests" / "bench" / "cpp" / name
