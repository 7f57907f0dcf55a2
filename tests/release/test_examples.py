"""The examples in C and C++ are built and run by CMake with what two wheels hold: kernpack-sdk and the library in kernpack.

The other examples need frameworks, models or the machine's libraries: tests/python/examples builds and runs all of them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import DIST, ROOT, Environment, fresh


@pytest.fixture(scope="module")
def author(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    here = fresh(tmp_path_factory.mktemp("author") / "environment")
    here.install("--find-links", DIST, built["kernpack"], built["kernpack-sdk"])
    return here


@pytest.mark.parametrize("example", ["c_module", "c_host", "cpp_host", "keyed_workspace"])
def test_an_example_from_the_wheels_alone(example: str, author: Environment, tmp_path: Path) -> None:
    project = tmp_path / example
    shutil.copytree(ROOT / "examples" / example, project)
    package = author.run(author.folder / "bin/kernpack-config", "--cmakedir").strip()
    assert str(author.folder) in package
    options = [f"-Dkernpack_DIR={package}", f"-DPython_EXECUTABLE={author.python}"]
    for command in (
        ["cmake", "-S", ".", "-B", "build", *options],
        ["cmake", "--build", "build"],
        ["ctest", "--test-dir", "build", "--output-on-failure", "--no-tests=error"],
    ):
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
