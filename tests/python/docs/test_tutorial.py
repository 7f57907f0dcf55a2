"""The files that the tutorial prints, taken from the page as they are, make a project that builds and whose kernel gives the norm.

test_blocks.py runs the page's Python; tests/python/examples builds a wheel out of the same files in examples/quickstart."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import kernpack
import kernpack_sdk
import numpy as np
import pytest
from blocks import ROOT, read_blocks

FILES = ("row_norm.cc", "CMakeLists.txt", "pyproject.toml")
_NAME = re.compile(r"(?://|#) (\S+)\n")


def _run(*command: str | Path, cwd: Path) -> None:
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every block of the page whose first line names a file."""
    folder = tmp_path_factory.mktemp("tutorial")
    for block in read_blocks(ROOT / "docs/tutorial.md"):
        if name := _NAME.match(block.text):
            (folder / name[1]).write_text(block.text)
    return folder


def test_the_page_has_every_file(project: Path) -> None:
    assert sorted(file.name for file in project.iterdir()) == sorted(FILES)


def test_the_files_build_and_the_kernel_runs(project: Path, tmp_path: Path) -> None:
    options = (f"-Dkernpack_DIR={kernpack_sdk.cmake_dir()}", f"-DPython_EXECUTABLE={sys.executable}")
    _run("cmake", "-S", project, "-B", tmp_path / "build", "-G", "Ninja", *options, cwd=tmp_path)
    _run("cmake", "--build", tmp_path / "build", cwd=tmp_path)
    _run("cmake", "--install", tmp_path / "build", "--prefix", tmp_path / "site", cwd=tmp_path)
    (built,) = (tmp_path / "site/row_norm").glob("*.so")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_allclose(kernpack.load(built).row_norm(x), np.linalg.norm(x, axis=1), rtol=1e-6)


def test_the_project_file_is_that_of_the_example(project: Path) -> None:
    """The example adds a description; its wheel is built by tests/python/examples, so the tutorial's builds too."""
    example = tomllib.loads((ROOT / "examples/quickstart/pyproject.toml").read_text())
    del example["project"]["description"]
    assert tomllib.loads((project / "pyproject.toml").read_text()) == example
