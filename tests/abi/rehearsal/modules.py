"""The modules of a rehearsal: one source in each language, built by the SDK of a version, and what compilers export."""

from __future__ import annotations

import dataclasses
import functools
import shlex
import shutil
import sys
from pathlib import Path

from rehearsal.trees import ROOT, Tree, run, write_if_new

_SRC = Path(__file__).parent / "src"
GOLDEN = ROOT / "tests" / "abi" / "golden" / "1.0"
_FLAGS = ("-fPIC", "-O1", "-fvisibility=hidden", "-Wall", "-Wno-missing-field-initializers")
_LANGUAGES = {
    "c": ("gcc", "-std=c99", _SRC / "module.c"),
    "cxx": ("g++", _SRC / "module.cc"),
    "generated": ("gcc", "-std=c11", GOLDEN / "generated.c.txt"),
    "backend": ("gcc", "-std=c99", GOLDEN / "backend.c"),
}
_RELEASES = {"1.0": "0.1", "1.1": "1.1", "2.0": "2.0"}  # what an author asks find_package() for

_CMAKE_PROJECT = """\
cmake_minimum_required(VERSION 3.22)
project(rehearsal LANGUAGES CXX)
find_package(kernpack {release} REQUIRED)
kernpack_add_module({name} SOURCES module.cc DEFINITIONS {definitions})
"""


@dataclasses.dataclass(frozen=True)
class Module:
    """A module to build: its ABI, its language, and the new features that it uses."""

    version: str  # of the headers, or of the compiler
    language: str  # "c", "cxx", "cmake", "generated", "backend"; exported by a compiler: "compiler_c", "compiler_llvm"
    news: str = ""  # REHEARSAL_<...> macros, separated by "+"

    @property
    def name(self) -> str:
        return "-".join((self.version, self.language, *filter(None, [self.news.replace("+", "-").lower()])))

    @property
    def from_compiler(self) -> bool:
        return self.language.startswith("compiler")

    @property
    def file_name(self) -> str:
        """Of today's compiler, what it exported when ABI 1.0 was made."""
        golden = self.from_compiler and self.version == "1.0"
        return f"{self.language.replace('compiler', 'generated') if golden else self.name}.so"


def build(module: Module, tree: Tree, folder: Path) -> Path:
    """Compiles a module; through ccache where there is one. Those of compilers have been exported before."""
    if module.from_compiler:
        return (GOLDEN if module.version == "1.0" else folder) / module.file_name
    return (_by_cmake if module.language == "cmake" else _by_hand)(module, tree, folder)


def _by_hand(module: Module, tree: Tree, folder: Path) -> Path:
    compiler, *flags, template = _LANGUAGES[module.language]
    out = folder / module.file_name
    source = out.with_suffix(".cc" if module.language == "cxx" else ".c")
    # The edit of a new major version in the text that the generator writes.
    write_if_new(source, template.read_text().replace("kp_module_v1", f"kp_module_v{tree.major}").encode())
    if module.language == "cxx":
        flags = _config(tree.site, "--cflags")
    link = ["-shared", "-Wl,-z,relro,-z,now"] if module.language == "backend" else _config(tree.site, "--ldflags")
    launcher = ["ccache"] if shutil.which("ccache") else []
    object_file = out.with_suffix(".o")
    run([*launcher, compiler, *flags, *_FLAGS, *_macros(module), f"-I{tree.include}", "-c", source, "-o", object_file])
    run([compiler, object_file, *link, "-o", out])
    return out


def _by_cmake(module: Module, tree: Tree, folder: Path) -> Path:
    place = folder / f"{module.name}-project"
    write_if_new(place / "module.cc", (_SRC / "module.cc").read_bytes())
    definitions = " ".join(macro.removeprefix("-D") for macro in _macros(module))
    project = _CMAKE_PROJECT.format(release=_RELEASES[module.version], name=module.name, definitions=definitions)
    write_if_new(place / "CMakeLists.txt", project.encode())
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    package = f"-Dkernpack_DIR={tree.cmake_package}"
    run(["cmake", "-S", place, "-B", place / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=", package, *launcher])
    run(["cmake", "--build", place / "build", "-j1"])
    return place / "build" / module.file_name


def _macros(module: Module) -> list[str]:
    return [f"-DREHEARSAL_{word}" for word in module.news.split("+") if word]


@functools.cache
def _config(site: Path, option: str) -> list[str]:
    """The output of `kernpack config` of an SDK."""
    return shlex.split(run([sys.executable, "-P", "-m", "kernpack_sdk", "config", option], python_path=site))


def export(modules: list[Module], python_path: str, folder: Path) -> None:
    """Has a compiler, with the kernpack of its version on PYTHONPATH, export its modules."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [f"{m.language.removeprefix('compiler_')}:{m.news}:{folder / m.file_name}" for m in modules]
    run(
        [sys.executable, "-P", Path(__file__).parent / "export.py", GOLDEN / "kernels.py", *wanted],
        python_path=python_path,
    )
