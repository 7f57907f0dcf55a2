"""Small projects, configured and built against the CMake package as an author would."""

from __future__ import annotations

import subprocess
from pathlib import Path

import kernpack_sdk
import pytest
from author_project import HEAD, Build


@pytest.fixture
def build(tmp_path: Path):
    """build(cmake, {"m.cc": text}, *options): configures and builds; CMakeLists.txt is HEAD and `cmake`."""

    def run(cmake: str, files: dict[str, str], *options: str) -> Build:
        (tmp_path / "CMakeLists.txt").write_text(HEAD + cmake)
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        folder = tmp_path / "build"
        configure = ["cmake", "-S", tmp_path, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *options]
        log = ""
        for command in ([*configure, f"-Dkernpack_DIR={kernpack_sdk.cmake_dir()}"], ["cmake", "--build", folder]):
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            log += done.stdout
            if done.returncode != 0:
                return Build(False, log, folder)
        return Build(True, log, folder)

    return run
