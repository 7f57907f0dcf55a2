"""The embedding examples, built against the installed CMake package and run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from support.host import ROOT

# The release build's installation (scripts/test), else any build folder can be installed.
INSTALLED = ROOT / "build" / "install"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if INSTALLED.is_dir():
        return INSTALLED
    builds = [p.parent for p in (*ROOT.glob("build/*/cmake_install.cmake"), *ROOT.glob("build-*/cmake_install.cmake"))]
    assert builds, "build the project first: cmake --preset release && cmake --build --preset release"
    folder = tmp_path_factory.mktemp("prefix")
    newest = max(builds, key=lambda p: p.stat().st_mtime)
    subprocess.run(["cmake", "--install", newest, "--prefix", folder], check=True, capture_output=True)
    return folder


def build(example: str, prefix: Path, folder: Path) -> Path:
    configure = [
        "cmake",
        "-S",
        ROOT / "examples" / example,
        "-B",
        folder,
        "-G",
        "Ninja",
        f"-DCMAKE_PREFIX_PATH={prefix}",
    ]
    for command in (configure, ["cmake", "--build", folder]):
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder


def run(*command: os.PathLike[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_c_host(prefix: Path, tmp_path: Path) -> None:
    folder = build("c_host", prefix, tmp_path)
    ran = run(folder / "c_host", folder / "axpy.so")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == (
        "axpy 1.0.0\n  axpy(x: f32[N], y: f32[N], a: float = 1.0) -> (out: f32[N])\n2 * x + y = 12 24 36\n"
    )
    assert ran.stderr.startswith("ValueError: axpy: y: expected")
    missing = run(folder / "c_host", folder / "missing.so")
    assert missing.returncode == 1
    assert missing.stderr.startswith("FileNotFoundError: kernpack.load: no such file")


def test_cpp_host(prefix: Path, tmp_path: Path) -> None:
    folder = build("cpp_host", prefix, tmp_path)
    ran = run(folder / "cpp_host")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "scaling scale: [2, 3] 0.5 1 1.5 2 2.5 3\n"
