"""An author's project, built in place: build/dev/site holds its package, ready to import, and each build brings it up to date.

This is what an editable install puts on Python's path, and what `kernpack dev` builds on every save.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernpack_sdk import check, cmake_dir, cross, progress, shared_object, wheel
from kernpack_sdk.build_failure import NO_CMAKE, explained
from kernpack_sdk.progress import run_showing

_BASES = ("src", "python", ".")  # where scikit-build-core looks for a project's Python package, in its order


class BuildError(RuntimeError):
    """The build failed; the text begins with what Kernpack has to say of it."""


def unread_by_pip(folder: Path) -> str:
    """The advice for a path that pip can't read, for which pip prints a traceback; "" if pip can read it."""
    name = os.fsencode(folder)
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        shown = name.decode("utf-8", "backslashreplace")
        return f"{shown}: pip builds and installs nothing in a folder whose path isn't UTF-8; move the project"
    return ""


@dataclass(frozen=True)
class Project:
    root: Path

    @property
    def build(self) -> Path:
        return self.root / "build" / "dev"

    @property
    def site(self) -> Path:
        """The folder for Python's path."""
        return self.build / "site"

    def is_there(self) -> bool:
        return (self.root / "pyproject.toml").exists()

    def missing(self) -> str:
        return f"{self.root}: no pyproject.toml here; run this in a project's folder, or start one: kernpack new NAME"

    def settings(self) -> dict[str, Any]:
        file = self.root / "pyproject.toml"
        try:
            return tomllib.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise BuildError(self.missing()) from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BuildError(f"{file}: {error}") from None

    @property
    def name(self) -> str:
        name = self.settings().get("project", {}).get("name")
        if not isinstance(name, str):
            raise BuildError(f'{self.root / "pyproject.toml"}: no name in [project]; add name = "my-kernels"')
        return name

    def python_folder(self) -> Path | None:
        """The author's own package; None where the project has no Python."""
        package = self.name.replace("-", "_").replace(".", "_")
        stated = self.settings().get("tool", {}).get("scikit-build", {}).get("wheel", {}).get("packages")
        folders = [self.root / each for each in stated or []] or [self.root / base / package for base in _BASES]
        return next((folder for folder in folders if (folder / "__init__.py").is_file()), None)

    def is_configured(self) -> bool:
        cache = self.build / "CMakeCache.txt"
        if not cache.is_file():
            return False
        kept = dict(
            line.partition("=")[::2] for line in cache.read_text(encoding="utf-8", errors="replace").splitlines()
        )
        same = Path(kept.get("kernpack_DIR:PATH", "")) == cmake_dir()
        return same and Path(kept.get("CMAKE_MAKE_PROGRAM:FILEPATH", "")).is_file()

    def build_now(self, line: Callable[[str], None] = lambda line: None) -> str:
        """Builds what changed and brings `site` up to date; what the tools printed. `line` gets each line of it as it comes. Raises
        BuildError."""
        name = self.name  # says so where there is no project
        if not (self.root / "CMakeLists.txt").is_file():
            raise BuildError(
                f"{self.root}: {name} has no CMakeLists.txt; copy that of a new project: kernpack new NAME"
            )
        with self._alone():
            said = "" if self.is_configured() else self._configure(line)
            line(progress.COMPILING)
            said += self._run("--build", self.build, line=line)
            self._install()
        return said

    def _configure(self, line: Callable[[str], None]) -> str:
        line(progress.CONFIGURING)
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        if (self.build / "CMakeCache.txt").is_file():  # of another SDK or another tool: its paths are everywhere
            (self.build / "CMakeCache.txt").unlink()
        define = [
            f"-Dkernpack_DIR={cmake_dir()}",
            "-DCMAKE_BUILD_TYPE=Release",
            f"-DPython_EXECUTABLE={sys.executable}",
        ]
        stated = self.settings().get("tool", {}).get("scikit-build", {}).get("cmake", {}).get("define", {})
        define += [f"-D{name}={_cmake_value(value)}" for name, value in stated.items() if not isinstance(value, dict)]
        if system := cross.own_system():
            zig = cross.find_zig()
            if zig is None:
                raise BuildError(cross.NO_ZIG)
            if not generator:
                raise BuildError(cross.NO_NINJA)
            define += [f"-D{name}={value}" for name, value in cross.defines(system, zig).items()]
        return self._run("--log-level=WARNING", "-S", self.root, "-B", self.build, *generator, *define, line=line)

    def _install(self) -> None:
        fresh = self.build / "site.new"
        shutil.rmtree(fresh, ignore_errors=True)
        self._run("--install", self.build, "--prefix", fresh)
        modules = shared_object.below(fresh)
        if not modules:
            raise BuildError(wheel.nothing_installed(self.name, str(self.root / "CMakeLists.txt")))
        own = self.python_folder()
        if own is not None:
            _link_tree(own, fresh / own.name)
        kernels = [module for module in modules if check.is_kernel_module(module)]  # not the libraries that they use
        for package in {module.parent for module in kernels} - {fresh}:
            wheel.add_stub(package, [module for module in kernels if module.parent == package])
        _replace(fresh, self.site)

    def _run(self, *words: str | Path, line: Callable[[str], None] = lambda line: None) -> str:
        cmake = shutil.which("cmake")
        if cmake is None:
            raise BuildError(NO_CMAKE)
        code, said = run_showing([cmake, *map(str, words)], line, folder=self.root)
        if code != 0:
            raise BuildError(explained(said))
        return said

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """One build of a project at a time, whichever process asks."""
        self.build.mkdir(parents=True, exist_ok=True)
        with open(self.build / "kernpack.lock", "w", encoding="utf-8") as lock:
            if sys.platform != "win32":
                import fcntl

                fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _cmake_value(value: Any) -> str:
    return str(value) if not isinstance(value, bool) else "ON" if value else "OFF"


def _link_tree(source: Path, target: Path) -> None:
    """Links to each file: an edit is live, and what CMake installs lies beside them."""
    for file in source.rglob("*"):
        link = target / file.relative_to(source)
        if file.is_file() and "__pycache__" not in file.parts and not link.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            try:
                link.symlink_to(file)
            except (
                OSError
            ):  # Windows wants a right for it that few users have; a file in the place of an edited one isn't linked
                os.link(file, link)


def _replace(fresh: Path, site: Path) -> None:
    """Each file in one step, so that a process that loads meanwhile sees whole ones; then what is gone is removed."""
    names = {file.relative_to(fresh) for file in fresh.rglob("*") if not file.is_dir() or file.is_symlink()}
    for name in names:
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        if not _same(fresh / name, site / name):
            os.replace(fresh / name, site / name)
    for file in [file for file in site.rglob("*") if not file.is_dir() or file.is_symlink()]:
        if file.relative_to(site) not in names and "__pycache__" not in file.parts:
            file.unlink()
    shutil.rmtree(fresh)


def _same(a: Path, b: Path) -> bool:
    if a.is_symlink() or b.is_symlink() or not b.is_file():
        return a.is_symlink() and b.is_symlink() and a.readlink() == b.readlink()
    return a.read_bytes() == b.read_bytes()
