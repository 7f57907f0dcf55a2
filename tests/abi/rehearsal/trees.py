"""Copies of the source tree, edited into another version of the ABI, and the host built from one."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rehearsal import edits

ROOT = Path(__file__).resolve().parents[3]
_COPIED = ("CMakeLists.txt", "cmake", "ffi", "bindings", "sdk")
# Built for being run a few hundred times, so as fast to build as can be.
_OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Debug",
    "-DCMAKE_C_FLAGS_DEBUG=-O0",
    "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
    "-DKERNPACK_UNITY=ON",
    "-DKERNPACK_BUILD_PYTHON=ON",
    "-DKERNPACK_BUILD_SDK=OFF",
    "-DKERNPACK_BUILD_TESTS=OFF",
)


@dataclasses.dataclass(frozen=True)
class Tree:
    """The sources of one version of the ABI."""

    version: str  # "1.1"
    source: Path

    @property
    def include(self) -> Path:
        return self.source / "ffi" / "include"

    @property
    def major(self) -> str:
        return self.version.split(".")[0]


def write_if_new(path: Path, content: bytes) -> None:
    """Leaves a file that is as it should be alone, so that the next build finds nothing to do."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def make(version: str, folder: Path) -> Tree:
    """The tree of a version in `folder`; what an earlier run left there is brought up to date."""
    if version == "1.0":
        return Tree(version, ROOT)
    source = folder / version / "source"
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
    return Tree(version, source)


def build_host(tree: Tree, folder: Path, jobs: int = 2) -> Path:
    """Builds libkernpack and the Python core of a tree; the folder that PYTHONPATH needs."""
    build = folder / tree.version / "build"
    _run(["cmake", "-S", tree.source, "-B", build, "-G", "Ninja", *_OPTIONS, f"-DPython_EXECUTABLE={sys.executable}"])
    _run(["cmake", "--build", build, f"-j{jobs}", "--target", "kernpack", "kernpack_core"])
    package = build / "python" / "kernpack"
    links = tree.source / "bindings" / "python" / "link_tree.cmake"
    _run(["cmake", f"-DTREE={package}", f"-DSOURCE={tree.source / 'bindings'}", "-P", links])
    shutil.copy(build / "ffi" / "libkernpack.so", package)
    shutil.copy(build / "bindings" / "python" / "_core.abi3.so", package)
    return package.parent


def _run(command: Sequence[object]) -> None:
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{ran.stdout[-6000:]}{ran.stderr[-6000:]}")
