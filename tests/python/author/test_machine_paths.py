"""Modules that are built with the SDK's flags name no folder of the machine that built it, whatever letters the folders' names have."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import kernpack
import kernpack_sdk
import pytest
from kernpack import _compile
from kernpack_sdk import flags

FOLDER = "us er,=ü'n/home"  # a space, a comma, an equals sign, a letter beyond ASCII, a quote
SOURCE = """#include <kernpack/kernel.h>
#include "rows.h"
namespace kp = kernpack;
static void Copy(kp::TensorView x, kp::MutTensorView out) {
  KP_CHECK(x.numel() > 0, ValueError) << "empty";
  for (int64_t i = 0; i < AtLeastTwo(x.size(0)); ++i) out.at<float>(i) = x.at<float>(i);
}
KP_MODULE("my_kernels", "1.0.0");
KP_EXPORT(copy, Copy, "(x: f32[N]) -> (out: f32[N])");
"""
HEADER = """inline int64_t AtLeastTwo(int64_t n) {
  KP_CHECK(n > 1, ValueError) << "one";
  return n;
}
"""
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(my_kernels LANGUAGES CXX)
find_package(kernpack REQUIRED)
kernpack_add_module(my_kernels SOURCES "${CMAKE_CURRENT_SOURCE_DIR}/ops.cc" INCLUDE_DIRECTORIES "${CMAKE_SOURCE_DIR}/../include")
"""


@pytest.fixture(scope="module")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the SDK's package, in a folder where people install it."""
    folder = tmp_path_factory.mktemp("sdk") / FOLDER / "kernpack_sdk"
    shutil.copytree(Path(kernpack_sdk.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(kernpack_sdk.include_dir() / "kernpack", folder / "include/kernpack", dirs_exist_ok=True)
    shutil.copytree(kernpack_sdk.cmake_dir(), folder / "lib/cmake/kernpack", dirs_exist_ok=True)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / FOLDER / "project"
    made.mkdir(parents=True)
    (made / "ops.cc").write_text(SOURCE)
    (made.parent / "include").mkdir()
    (made.parent / "include/rows.h").write_text(HEADER)
    return made


def _config(sdk: Path, what: str) -> str:
    program = f"from kernpack_sdk.cli import main; main(['config', {what!r}])"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(sdk.parent), *sys.path])}
    return subprocess.check_output([sys.executable, "-c", program], env=environment, text=True)


def _names_files(module: Path, *sources: bytes) -> bool:
    content = module.read_bytes()
    return b"/home/" not in content and all(source + b"\0" in content for source in sources)


def test_kernpack_config(sdk: Path, folder: Path) -> None:
    cflags, ldflags = (shlex.split(_config(sdk, what)) for what in ("--cflags", "--ldflags"))
    assert f"-I{sdk}/include" in cflags
    words = ["g++", *cflags, "ops.cc", *ldflags, "-I../include", "-o", "my_kernels.so"]
    subprocess.run(words, cwd=folder, check=True)
    assert _names_files(folder / "my_kernels.so", b"kernpack/error.h", b"ops.cc", b"../include/rows.h")


def test_cmake(sdk: Path, folder: Path) -> None:
    (folder / "CMakeLists.txt").write_text(PROJECT)
    package = _config(sdk, "--cmakedir").strip()
    assert package == f"{sdk}/lib/cmake/kernpack"
    configure = (
        "cmake",
        "-G",
        "Ninja",
        "-B",
        "build",
        "-S",
        ".",
        f"-Dkernpack_DIR={package}",
        "-DCMAKE_BUILD_TYPE=Release",
    )
    for command in (configure, ("cmake", "--build", "build")):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Warning" not in done.stdout + done.stderr
    assert _names_files(folder / "build/my_kernels.so", b"kernpack/error.h", b"ops.cc", b"rows.h")


def test_load(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    k = kernpack.load(
        folder / "ops.cc",
        include_paths=[folder.parent / "include"],
        build_directory=folder / "made",
        extra_cflags=["-g"],
    )
    assert k.path is not None
    assert str(k.path).startswith(str(folder / "made"))
    stripped = folder / "stripped.so"
    subprocess.run(["objcopy", "--strip-debug", k.path, stripped], check=True)
    assert _names_files(stripped, b"ops.cc", b"rows.h")
    debugged = subprocess.check_output(["objdump", "--dwarf=line", k.path], text=True, errors="replace")
    assert str(folder) in debugged  # where debuggers find the source


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_nvcc_hands_the_flags_on_whole(folder: Path) -> None:
    (folder / "names.cu").write_text("const char* NameOfTheFile() { return __FILE__; }\n")
    words = _compile._for_nvcc([*flags.compile_flags(), *flags.prefix_maps([folder])])
    subprocess.run(["nvcc", *words, "-c", str(folder / "names.cu"), "-o", str(folder / "names.o")], check=True)
    content = (folder / "names.o").read_bytes()
    assert str(folder).encode() not in content
    assert b"names.cu\0" in content


def test_clang_takes_the_option_apart_at_the_first_equals_sign() -> None:
    assert flags.prefix_maps(["/a=b", "/c/"], gnu=False) == ["-fmacro-prefix-map=/c/="]
    assert flags.prefix_maps(["/a=b"]) == ["-fmacro-prefix-map=/a=b/="]
