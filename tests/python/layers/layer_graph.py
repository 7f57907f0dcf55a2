"""Who includes and imports whom: the graph of this repository's own files."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
# Where each Python package stands once installed.
PACKAGES = {
    "sdk/author/python/kernpack_sdk": "kernpack_sdk",
    "bindings/python/kernpack": "kernpack",
    "bindings/torch/kernpack_torch": "kernpack.torch",
    "bindings/jax/kernpack_jax": "kernpack.jax",
    "bindings/compiler/kernpack_compiler": "kernpack_compiler",
    "bindings/emulator/kernpack_cuda_emulator": "kernpack_cuda_emulator",
    "kernels/kernpack_kernels": "kernpack_kernels",
}
_FOLDERS = ("ffi", "sdk", "bindings", "kernels", "examples")
# The include paths of the build files, for files under the key and for all others.
_INCLUDE = {
    "ffi/src": ("ffi/src",),
    "sdk/compiler": ("sdk/compiler",),
    "sdk/programs": ("sdk/programs", "sdk/compiler"),
    "sdk/emulator": ("sdk/emulator",),
    "bindings/compiler/src": ("bindings/compiler/src", "sdk/compiler", "sdk/programs"),
    "kernels": ("kernels",),
    "bindings/python/src": ("bindings/python/src",),
}
_INCLUDE_ALL = ("ffi/include", "sdk/include", "ffi")
_INCLUDE_LINE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">]+)[">]', re.MULTILINE)


@dataclass(frozen=True)
class Edge:
    """`user` includes or imports `used`. late: an import inside a function or for type checkers only, as all of a .pyi is."""

    user: str
    used: str
    late: bool = False


def edges(root: Path = ROOT) -> list[Edge]:
    """All of them, between files by their paths from `root`."""
    listed = subprocess.run(["git", "ls-files", *_FOLDERS], cwd=root, capture_output=True, text=True, check=True)
    files = [file for file in listed.stdout.split() if (root / file).is_file()]
    return [*_includes(root, files), *_imports(root, files)]


def _includes(root: Path, files: Iterable[str]) -> Iterator[Edge]:
    known = {file for file in files if file.endswith((".h", ".c", ".cc", ".cu", ".cpp"))}
    for file in sorted(known):
        own = [folder for under, folders in _INCLUDE.items() if file.startswith(f"{under}/") for folder in folders]
        places = (os.path.dirname(file), *own, *_INCLUDE_ALL)
        for name in _INCLUDE_LINE.findall((root / file).read_text(encoding="utf-8")):
            paths = (os.path.normpath(os.path.join(place, name)) for place in places)
            used = next((path for path in paths if path in known), None)
            if used is not None:
                yield Edge(file, used)
            elif name.startswith("kernpack/"):
                raise AssertionError(f"{file}: #include <{name}> names no file of this repository")


def _imports(root: Path, files: Iterable[str]) -> Iterator[Edge]:
    modules = {}
    for file in files:
        for folder, package in PACKAGES.items():
            if file.startswith(f"{folder}/") and file.endswith((".py", ".pyi")):
                parts = file[len(folder) + 1 :].rsplit(".", 1)[0].split("/")
                modules[".".join([package, *(part for part in parts if part != "__init__")])] = file
    for module, file in modules.items():
        package = module if file.endswith("__init__.py") else module.rpartition(".")[0]
        tree = ast.parse((root / file).read_text(encoding="utf-8"))
        for used, late in sorted(_imported(tree, package, modules, late=file.endswith(".pyi"))):
            if used != module:
                yield Edge(file, modules[used], late)


def _imported(node: ast.AST, package: str, modules: Mapping[str, str], *, late: bool) -> Iterator[tuple[str, bool]]:
    for child in ast.iter_child_nodes(node):
        names: list[str] = []
        if isinstance(child, ast.Import):
            names = [alias.name for alias in child.names]
        elif isinstance(child, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - child.level + 1] if child.level else []
            source = ".".join([*above, *([child.module] if child.module else [])])
            names = [f"{source}.{alias.name}" for alias in child.names]
            names = [name if name in modules else source for name in names]
        yield from ((name, late) for name in names if name in modules)
        only_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)
        waits = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) or only_types
        yield from _imported(child, package, modules, late=late or waits)


def circles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Groups of nodes that each lead to one another (Tarjan), sorted."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = lowest[node] = len(order)
        stack.append(node)
        for after in graph.get(node, ()):
            if after not in order:
                visit(after)
            if after in stack:
                lowest[node] = min(lowest[node], lowest[after])
        if lowest[node] == order[node]:
            group = stack[stack.index(node) :]
            del stack[len(stack) - len(group) :]
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return sorted(found)
