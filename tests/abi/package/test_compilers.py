"""The smallest author's file and a wide one, through every compiler and standard at hand, without a warning."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from author_project import MODULE
from kernpack_sdk import cmake_dir, flags, include_dir

WIDE = Path(__file__).with_name("wide.cc")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]


def _compiler(*names: str) -> str:
    for name in names:
        if shutil.which(name):
            return name
    pytest.skip(f"no {' or '.join(names)} on PATH")


def _source(name: str, folder: Path, suffix: str) -> Path:
    path = folder / f"{name}{suffix}"
    path.write_text(MODULE if name == "smallest" else WIDE.read_text())
    return path


def _compile(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("linked", [False, True], ids=["inline", "linked"])
@pytest.mark.parametrize("source", ["smallest", "wide"])
@pytest.mark.parametrize("standard", ["c++17", "c++20", "c++23"])
@pytest.mark.parametrize("compilers", [("g++",), ("clang++", "clang++-19")], ids=lambda names: names[0])
def test_host_compilers(compilers: tuple[str, ...], standard: str, source: str, linked: bool, tmp_path: Path) -> None:
    compiler = _compiler(*compilers)
    spelled = "c++2b" if standard == "c++23" and compiler == "g++" else standard  # gcc 10 knows no other name
    options = [f"-std={spelled}", *WARNINGS, f"-I{include_dir()}", "-fPIC", "-c", "-o", "/dev/null"]
    options += ["-DKP_SUPPORT_LINKED"] if linked else []
    _compile([compiler, *options, str(_source(source, tmp_path, ".cc"))])


# Of each system: the file's first bytes, and how the section of the exported functions is named.
SYSTEMS = {"x86_64-windows-gnu": (b"\x64\x86", b".kpd$m"), "aarch64-macos": (b"\xcf\xfa\xed\xfe", b"kp_defs")}


@pytest.mark.parametrize("source", ["smallest", "wide"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_headers_compile_for_other_systems(system: str, source: str, tmp_path: Path) -> None:
    """Nothing is linked, and nothing runs there."""
    compiler = [sys.executable, "-m", "ziglang", "c++", "-target", system]
    made = tmp_path / "made.o"
    warnings = [option for option in WARNINGS if option != "-Wpedantic"]  # clang 22 has one for __COUNTER__
    options = ["-std=c++17", *warnings, f"-I{include_dir()}", "-c", "-o", str(made)]
    _compile([*compiler, *options, str(_source(source, tmp_path, ".cc"))])
    magic, section = SYSTEMS[system]
    content = made.read_bytes()
    assert content.startswith(magic)
    assert section in content
    assert b"kp_module_v1" in content


@pytest.mark.parametrize("part", ["aliases", "check"])
@pytest.mark.parametrize("compilers", [("g++",), ("clang++", "clang++-19")], ids=lambda names: names[0])
def test_support_library(compilers: tuple[str, ...], part: str) -> None:
    compiler = _compiler(*compilers)
    options = [*flags.support_flags(part, gnu=compiler == "g++"), *WARNINGS, "-c", "-o", "/dev/null"]
    _compile([compiler, *options, str(cmake_dir() / "support" / f"{part}.cc")])


@pytest.mark.parametrize("source", ["smallest", "wide"])
@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_the_headers_compile_with_nvcc(standard: str, source: str, tmp_path: Path) -> None:
    compiler = _compiler("nvcc")
    options = [f"-std={standard}", f"-I{include_dir()}", "-Xcompiler=-fPIC", "-Werror", "all-warnings"]
    _compile([compiler, *options, "-c", str(_source(source, tmp_path, ".cu")), "-o", str(tmp_path / "out.o")])
