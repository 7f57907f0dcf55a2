"""The source distribution: one for all four wheels, which builds without the repository around it. PyPI gets wheels only
(docs/versions.md says why); this one is for packagers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT


def _run(*command: str | Path, folder: Path, **environment: str) -> str:
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    build = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--skip-dependency-check", "--outdir", folder]
    _run(*build, ROOT, folder=folder, PYTHONPATH=str(ROOT / "sdk/author/python"))
    (archive,) = folder.glob("*.tar.gz")
    _run(sys.executable, "-m", "twine", "check", "--strict", archive, folder=folder)
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def _names(wheel: Path) -> list[str]:
    """Without the SBOM, which scripts/wheels adds."""
    with zipfile.ZipFile(wheel) as archive:
        return sorted(name for name in archive.namelist() if "/sboms/" not in name)


def test_it_has_the_sources_of_all_wheels(sources: Path) -> None:
    for project in (".", "sdk/author", "kernels", "bindings/compiler"):
        assert (sources / project / "pyproject.toml").is_file()
        assert (sources / project / "LICENSE").is_file()
    assert (sources / "PKG-INFO").is_file()
    assert not (sources / ".git").exists()


@pytest.mark.skipif(
    "KERNPACK_WHOLE_RELEASE" not in os.environ,
    reason="takes three minutes: `make release-check` builds the kernels again",
)
def test_sdk_and_kernels_build_from_it_alone(sources: Path, built: dict[str, Path], tmp_path: Path) -> None:
    """As a packager does, who has the runtime already: it and the compiler build the same way, and take minutes."""
    shutil.copy(built["kernpack"], tmp_path)
    uv = [sys.executable, "-m", "uv", "build", "--wheel", "--out-dir", tmp_path, "--python", sys.executable]
    for project in ("sdk/author", "kernels"):
        _run(*uv, sources / project, folder=tmp_path, UV_FIND_LINKS=str(tmp_path), UV_NO_CACHE="1")
    for name in ("kernpack-sdk", "kernpack-kernels"):
        (wheel,) = tmp_path.glob(f"{name.replace('-', '_')}-*.whl")
        assert wheel.name == built[name].name
        assert _names(wheel) == _names(built[name])
