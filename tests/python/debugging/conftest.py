"""Kernels with debug information, and the program that calls them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import kernpack_sdk
import pytest
from debugged import C_SOURCE, CXX_SOURCE, HERE, Calls
from support import host


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with kernels.so, of C++, c_kernels.so and the program host."""
    folder = tmp_path_factory.mktemp("debugged")
    shared = ("-g", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", f"-I{kernpack_sdk.include_dir()}")
    library = folder / "libkernpack.so"  # without debug information of its own, which takes time to read
    linked = ("-g", "-O1", f"-I{host.INCLUDE}", str(library), f"-Wl,-rpath,{folder}", "-pthread")
    for command in (
        ("objcopy", "--strip-debug", str(host.library_path()), str(library)),
        ("g++", "-std=c++17", *shared, str(CXX_SOURCE), "-o", str(folder / "kernels.so")),
        ("gcc", "-std=c99", *shared, str(C_SOURCE), "-o", str(folder / "c_kernels.so")),
        ("gcc", str(HERE / "host.c"), *linked, "-o", str(folder / "host")),
    ):
        subprocess.run(command, check=True)
    return folder


@pytest.fixture
def calls(built: Path, tmp_path: Path) -> Calls:
    return Calls(built / "host", tmp_path / "cache")
