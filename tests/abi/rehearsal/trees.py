"""Copies of the source tree, edited into another version of the ABI; the SDK, the host and the compiler of one."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rehearsal import edits

ROOT = Path(__file__).resolve().parents[3]
_COPIED = ("CMakeLists.txt", "cmake", "ffi", "bindings", "sdk", "tests/device/conformance")
# Built for being run a few hundred times, so as fast to build as can be.
_OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Debug",
    "-DCMAKE_C_FLAGS_DEBUG=-O0",
    "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
    "-DKERNPACK_UNITY=ON",
    "-DKERNPACK_BUILD_TESTS=OFF",
    f"-DPython_EXECUTABLE={sys.executable}",
)
_HOST = ("-DKERNPACK_BUILD_PYTHON=ON", "-DKERNPACK_BUILD_SDK=OFF")
_COMPILER = ("-DKERNPACK_BUILD_PYTHON=OFF", "-DKERNPACK_BUILD_COMPILER=ON")


@dataclasses.dataclass(frozen=True)
class Tree:
    """The sources of one version of the ABI."""

    version: str  # "1.1"
    source: Path
    site: Path  # holds kernpack_sdk as its wheel installs it

    @property
    def include(self) -> Path:
        return self.site / "kernpack_sdk" / "include"

    @property
    def cmake_package(self) -> Path:
        return self.site / "kernpack_sdk" / "lib" / "cmake" / "kernpack"

    @property
    def major(self) -> str:
        return self.version.split(".")[0]


def write_if_new(path: Path, content: bytes) -> None:
    """Leaves a file that is as it should be alone, so that the next build finds nothing to do."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def make(version: str, folder: Path) -> Tree:
    """The tree of a version in `folder`, its SDK installed; what an earlier run left there is brought up to date."""
    source = ROOT if version == "1.0" else folder / version / "source"
    if source != ROOT:
        _edit(version, source)
    tree = Tree(version, source, folder / version / "site")
    _install_sdk(tree, folder / version / "sdk")
    return tree


def _edit(version: str, source: Path) -> None:
    wanted = {}
    for name in _COPIED:
        top = ROOT / name
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                wanted[path.relative_to(ROOT)] = path.read_bytes()
    changed = edits.apply({str(path): content for path, content in wanted.items()}, version)
    for name, content in changed.items():
        write_if_new(source / name, content)
    for path in sorted(source.rglob("*")):
        if path.is_file() and str(path.relative_to(source)) not in changed:
            path.unlink()


def _install_sdk(tree: Tree, build: Path) -> None:
    """Installs the content of the wheel kernpack-sdk, which isn't compiled."""
    package = tree.site / "kernpack_sdk"
    run(["cmake", "-S", tree.source / "sdk/author", "-B", build, "-G", "Ninja"])
    run(["cmake", "--install", build, "--prefix", package])
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(tree.source / "sdk/author/python" / "kernpack_sdk", package, dirs_exist_ok=True, ignore=ignored)


def build_host(tree: Tree, folder: Path, jobs: int = 2) -> Path:
    """Builds libkernpack and the Python core of a tree; the folder that PYTHONPATH needs."""
    build = folder / tree.version / "build"
    run(["cmake", "-S", tree.source, "-B", build, "-G", "Ninja", *_OPTIONS, *_HOST])
    run(["cmake", "--build", build, f"-j{jobs}", "--target", "kernpack", "kernpack_core"])
    package = build / "python" / "kernpack"
    links = tree.source / "bindings" / "python" / "link_tree.cmake"
    run(["cmake", f"-DTREE={package}", f"-DSOURCE={tree.source / 'bindings'}", "-P", links])
    shutil.copy(build / "ffi" / "libkernpack.so", package)
    shutil.copy(build / "bindings" / "python" / "_core.abi3.so", package)
    return package.parent


def build_compiler(tree: Tree, folder: Path, jobs: int = 2) -> Path:
    """Builds kernpack_compiler of a tree, with both generators; the folder that PYTHONPATH needs beside the host's."""
    build = folder / tree.version / "compiler"
    run(["cmake", "-S", tree.source, "-B", build, "-G", "Ninja", *_OPTIONS, *_COMPILER])
    run(["cmake", "--build", build, f"-j{jobs}", "--target", "compiler_dev"])
    return build / "python"


def environment(python_path: str | Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(python_path)}


def run(command: Sequence[object], python_path: str | Path = "") -> str:
    """The output of a command; RuntimeError with the end of the output if it fails."""
    words = [str(word) for word in command]
    env = environment(python_path) if python_path else None
    ran = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}\n{ran.stdout[-6000:]}{ran.stderr[-6000:]}")
    return ran.stdout
