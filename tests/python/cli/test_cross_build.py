"""kernpack build --target aarch64, with Debian's cross compiler."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "kernpack"]


def _run(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "200"} | environment,
        check=False,
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cross")
    made = _run("new", "crossed", "--with-python", cwd=folder)
    assert made.returncode == 0, made.stderr
    return folder / "crossed"


def test_a_wheel_for_aarch64(project: Path) -> None:
    built = _run("build", "--target", "aarch64", "--reproducible", cwd=project)
    assert built.returncode == 0, built.stderr
    assert "built twice from clean: the same file" in built.stdout
    (wheel,) = (project / "dist").glob("*.whl")
    assert wheel.name == "crossed-0.1.0-py3-none-manylinux_2_28_aarch64.whl"
    with zipfile.ZipFile(wheel) as archive:
        assert "def swish(" in archive.read("crossed/__init__.pyi").decode()
    checked = _run("check", wheel, cwd=project)
    assert checked.returncode == 0, checked.stdout
    assert "runs on manylinux_2_27_aarch64 and newer" in checked.stdout
    shown = _run("inspect", wheel, cwd=project).stdout
    assert any(line.startswith("crossed.so ") and line.endswith("KB  aarch64") for line in shown.splitlines())
    assert "swish_backward" in shown
    assert "x86-64" not in shown


def test_without_the_compiler(project: Path, tmp_path: Path) -> None:
    refused = _run("build", "--target", "aarch64", cwd=project, PATH=str(tmp_path))
    assert refused.returncode == 1
    said = "kernpack build: --target aarch64: aarch64-linux-gnu-g++ is missing; apt-get install g++-aarch64-linux-gnu"
    assert said in refused.stderr


def test_an_unknown_target(project: Path) -> None:
    refused = _run("build", "--target", "riscv64", cwd=project)
    assert refused.returncode == 2
    assert "--target: expected aarch64, got 'riscv64'" in refused.stderr
