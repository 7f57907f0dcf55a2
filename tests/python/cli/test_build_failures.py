"""Builds that end for another reason than the sources: a tool that isn't there, a full disk. The cause is said first."""

from __future__ import annotations

import errno
import importlib.metadata
import os
import platform
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from kernpack_sdk import build_failure

COMPILERS = ("g++", "gcc", "c++", "cc", "clang", "clang++")
CMAKE = "no CMake was found that the project can use; install it: pip install cmake ninja"
NVCC = "kernpack: CMake found no nvcc, which compiles .cu files; install NVIDIA's CUDA toolkit and put its folder bin on the PATH"
FULL = (
    "kernpack: the build couldn't write a file, for a full disk, a quota or a limit (ulimit -f): make room in "
    f"{tempfile.gettempdir()}, or set TMPDIR to another folder, and in the project's folder"
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("failures")


@pytest.fixture(scope="module")
def project(command, place: Path) -> Path:
    assert command("new", "plain", cwd=place).returncode == 0
    return place / "plain"


def _without(folder: Path, *missing: str) -> dict[str, str]:
    """A PATH with what a build uses, but these."""
    folder.mkdir()
    tools = ("cmake", "ninja", *COMPILERS, "ld", "as", "ar", "ranlib", "nm", "readelf", "objdump", "sh", "bash")
    for tool in tools:
        if tool not in missing and (found := shutil.which(tool)):
            (folder / tool).symlink_to(found)
    return {"PATH": str(folder), "CXX": "g++", "CC": "gcc", "CUDACXX": ""}


def _first(text: str) -> str:
    return text.removeprefix("kernpack build: it failed\n").splitlines()[0]


@pytest.mark.skipif(
    any(each.name == "cmake" for each in importlib.metadata.distributions()), reason="CMake is a package of this Python"
)
def test_no_cmake(command, project: Path, tmp_path: Path) -> None:
    path = _without(tmp_path / "bin", "cmake")
    built = command("build", cwd=project, env=path)
    assert (built.returncode, built.stderr) == (1, f"kernpack build: it failed\nkernpack: {CMAKE}\n")
    in_place = command("dev", "--once", cwd=project, env=path)
    assert in_place.returncode == 1
    assert CMAKE in in_place.stdout + in_place.stderr


def test_no_compiler(command, project: Path, tmp_path: Path) -> None:
    built = command("build", cwd=project, env=_without(tmp_path / "bin", *COMPILERS))
    assert built.returncode == 1
    said = "kernpack: CMake found no C++ compiler; install one (apt-get install g++), or set CXX to the path of one"
    assert _first(built.stderr) == said


def test_no_nvcc(command, place: Path, tmp_path: Path) -> None:
    assert command("new", "on-gpu", "--cuda", cwd=place).returncode == 0
    path = _without(tmp_path / "bin")
    built = command("build", cwd=place / "on-gpu", env=path)
    assert built.returncode == 1
    assert _first(built.stderr).startswith(NVCC)
    in_place = command("dev", "--once", cwd=place / "on-gpu", env=path)
    assert in_place.returncode == 1
    assert NVCC in in_place.stdout + in_place.stderr


def test_a_file_that_can_not_grow(command, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As on a full disk, the compiler can't write what it made."""
    limited = tmp_path / "python"
    limited.write_text(f'#!/bin/bash\nulimit -f 64\nexec {shlex.quote(sys.executable)} "$@"\n')
    limited.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(limited))
    built = command("build", "-o", "small", cwd=project)
    assert built.returncode == 1
    assert _first(built.stderr).startswith(FULL)
    assert not (project / "small").exists()


def test_a_full_disk_where_the_wheel_goes(command, project: Path) -> None:
    wheel = f"plain-0.1.0-py3-none-manylinux_2_28_{platform.machine()}.whl"
    (project / "full").mkdir()
    (project / "full" / wheel).symlink_to("/dev/full")
    built = command("build", "-o", "full", cwd=project)
    assert built.returncode == 1
    assert _first(built.stderr).startswith(FULL)
    assert os.listdir(project / "full") == [], "no part of a wheel stays"


def test_what_compilers_say_of_a_full_disk() -> None:
    output = "a.cc:1: fatal error: error writing to /tmp/ccLIA0W4.s: No space left on device\n"
    said = build_failure.explained(output)
    assert said.startswith(FULL)
    assert said.endswith(output)
    assert build_failure.explained("a.cc:1: error: expected ';'\n") == "a.cc:1: error: expected ';'\n"


def test_other_errors_of_files_stay_what_they_are() -> None:
    with pytest.raises(PermissionError):
        build_failure.full_disk(PermissionError(errno.EACCES, "Permission denied"))


VARIANTS = """\
cmake_minimum_required(VERSION 3.22)
project(plain LANGUAGES CXX)
find_package(kernpack REQUIRED)
kernpack_add_module(plain SOURCES src/plain.cc VARIANT_SOURCES src/more.cc VARIANTS x86-64-v2 x86-64-v3 DESTINATION plain)
"""


@pytest.fixture
def mistaken(project: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "mistaken"
    shutil.copytree(project, folder, ignore=shutil.ignore_patterns("build", "dist"))
    return folder


@pytest.mark.skipif(platform.machine() != "x86_64", reason="its CPU variants are x86_64's")
@pytest.mark.parametrize("words", [("build",), ("dev", "--once", "--no-install")])
def test_a_mistake_is_said_once_and_without_what_the_tools_print(
    command, mistaken: Path, words: tuple[str, ...]
) -> None:
    """A lost brace in a file that is compiled for two variants."""
    (mistaken / "CMakeLists.txt").write_text(VARIANTS)
    head = "#include <kernpack/kernel.h>\nnamespace kp = kernpack;\n"
    (mistaken / "src/more.cc").write_text(head + "void f(kp::TensorView x) {\n  if (x.numel() > 3) {\n}\n")
    done = command(*words, cwd=mistaken)
    assert done.returncode == 1
    text = done.stdout + done.stderr
    missing = "src/more.cc:4: the '{' of this line isn't closed: a '}' is missing before the '}' on line 5"
    assert text.count(missing) == 1, text
    assert "set KERNPACK_COMPILER_OUTPUT=1 to see all" in text
    assert len(text.splitlines()) <= 17, text
    assert not any(word in text for word in ("ninja", "CMakeFiles", "/c++", "*** "))
    whole = command(*words, cwd=mistaken, env={"KERNPACK_COMPILER_OUTPUT": "1"})
    assert "CMakeFiles" in whole.stdout + whole.stderr


def test_an_error_of_cmake_without_its_stack(command, mistaken: Path) -> None:
    text = (mistaken / "CMakeLists.txt").read_text().replace("DESTINATION plain", "DESTINATION")
    (mistaken / "CMakeLists.txt").write_text(text)
    line = next(i for i, each in enumerate(text.splitlines(), 1) if "kernpack_add_module" in each)
    done = command("build", cwd=mistaken)
    said = f"CMakeLists.txt:{line}: kernpack_add_module(plain): DESTINATION has no value; give it the package's folder"
    assert _first(done.stderr).startswith(f"kernpack: {said}")
    assert "Call Stack" not in done.stderr


@pytest.mark.parametrize("words", [(), ("--once",), ("--no-install",)])
def test_dev_outside_a_project_ends(command, tmp_path: Path, words: tuple[str, ...]) -> None:
    ended = command("dev", *words, cwd=tmp_path)
    text = f"{tmp_path}: no pyproject.toml here; run this in a project's folder, or start one: kernpack new NAME"
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", f"kernpack dev: {text}\n")
