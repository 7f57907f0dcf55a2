"""The wheels of dist/, copies of them under other versions, and fresh environments to install them into."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.utils import parse_wheel_filename

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
NAMES = ("kernpack", "kernpack-sdk", "kernpack-kernels", "kernpack-compiler", "kernpack-cuda-emulator")


def wheels() -> dict[str, Path]:
    return {parse_wheel_filename(path.name)[0]: path for path in DIST.glob("*.whl")}


@dataclass
class Environment:
    """A virtual environment of its own; `installer` is pip or uv. Neither reaches an index for Kernpack's wheels."""

    folder: Path
    installer: str

    @property
    def python(self) -> Path:
        return self.folder / "bin/python"

    def _install(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        if self.installer == "uv":
            command = [sys.executable, "-m", "uv", "pip", "install", "--python", self.python]
        else:
            command = [self.python, "-m", "pip", "install", "--disable-pip-version-check"]
        return subprocess.run(
            [*map(str, command), *map(str, arguments)], capture_output=True, text=True, check=False, cwd=self.folder
        )

    def install(self, *arguments: str | Path) -> None:
        done = self._install(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr

    def refuses(self, *arguments: str | Path) -> str:
        done = self._install(*arguments)
        assert done.returncode != 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def run(self, *arguments: str | Path) -> str:
        # No compiler: what is installed is all there is.
        environment = {"PATH": str(self.folder / "bin"), "HOME": str(self.folder), "LANG": "C.UTF-8"}
        done = subprocess.run(
            [str(self.python), *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env=environment,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def _of_pyenv() -> list[str]:
    """Folders of the CPythons that pyenv has installed: uv sees only the one that pyenv has activated."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return sorted(map(str, root.glob("versions/*/bin")), reverse=True)


def fresh(folder: Path, installer: str = "uv", python: str | None = None) -> Environment:
    """python: a version, which only uv finds or downloads."""
    tool = ["uv", "venv", "-q", "--python", python or sys.executable] if installer == "uv" else ["venv"]
    done = subprocess.run(
        [sys.executable, "-m", *tool, str(folder)],
        env={**os.environ, "VIRTUAL_ENV": "", "PATH": os.pathsep.join([os.environ["PATH"], *_of_pyenv()])},
        capture_output=True,
        text=True,
        check=False,
    )
    if "Failed to download" in done.stderr or "No interpreter found" in done.stderr:
        pytest.skip(f"uv finds no CPython {python} here: {done.stderr.strip().splitlines()[-1].strip()}")
    assert done.returncode == 0, done.stdout + done.stderr
    return Environment(folder, installer)


@pytest.fixture
def environment(tmp_path: Path) -> Callable[..., Environment]:
    def make(installer: str = "uv", python: str | None = None) -> Environment:
        return fresh(tmp_path / f"environment-{installer}", installer, python)

    return make


@pytest.fixture(scope="session")
def built() -> dict[str, Path]:
    found = wheels()
    assert set(found) == set(NAMES), (
        f"expected the wheels {', '.join(NAMES)} in dist/, got {sorted(found)}: run `make wheels`"
    )
    return found


@pytest.fixture(scope="session")
def other_version(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """A wheel's content under another version, as a later release has it in its metadata."""

    def make(name: str, version: str) -> Path:
        folder = tmp_path_factory.mktemp("versions")
        tool = [sys.executable, "-m", "wheel"]
        subprocess.run([*tool, "unpack", "-d", folder, built[name]], check=True, stdout=subprocess.DEVNULL)
        (tree,) = folder.iterdir()
        (info,) = tree.glob("*.dist-info")
        own = str(parse_wheel_filename(built[name].name)[1])
        metadata = (info / "METADATA").read_text(encoding="utf-8")
        metadata = metadata.replace(f"\nVersion: {own}\n", f"\nVersion: {version}\n", 1)
        metadata = metadata.replace(f"Requires-Dist: kernpack=={own}\n", f"Requires-Dist: kernpack=={version}\n", 1)
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        info.rename(tree / info.name.replace(own, version))
        subprocess.run([*tool, "pack", "-d", folder, tree], check=True, stdout=subprocess.DEVNULL)
        (wheel,) = folder.glob("*.whl")
        return wheel

    return make
