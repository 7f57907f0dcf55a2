"""LIBRARIES of other wheels: a module is linked against stand-ins of them, with the names alone that it uses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import kernpack_sdk
import pytest
from author_project import Build
from kernpack_sdk import elf, needs
from support.wheel_libraries import library

MODULE = """\
#include <kernpack/kernel.h>
extern "C" int cublas_answer();
extern "C" int %s();
static int64_t Answer() { return cublas_answer() + %s(); }
KP_MODULE("m", "1.0.0");
KP_EXPORT(answer, Answer);
"""
ADD = "kernpack_add_module(m SOURCES m.cc LIBRARIES {})\n"
FOO = 'kernpack_wheel_library(foo::foo LIBRARY libfoo.so.1 REQUIRES "foo>=1,<2" FOLDER foo/lib{})\n'

Builder = Callable[..., Build]


def test_stand_ins_are_linked_and_the_note_says_whose_libraries_they_are(build: Builder) -> None:
    done = build(
        FOO.format(" SYMBOLS foo_") + ADD.format("nvidia::cublas foo::foo"), {"m.cc": MODULE % (("foo_a",) * 2)}
    )
    assert done.ok, done.log
    assert "which must be installed" not in done.text
    so = elf.read(done.folder / "m.so")
    assert so.needed[:2] == ("libcublas.so.13", "libfoo.so.1")
    assert so.runpath == (), "where the stand-ins would be found"
    assert [str(need) for need in needs.of_object(so)] == [
        "libcublas.so.13 (nvidia-cublas>=13,<14)",
        "libfoo.so.1 (foo>=1,<2)",
    ]
    assert so.needs_note.splitlines()[1] == "libfoo.so.1\tfoo>=1,<2\tfoo/lib"
    assert elf.read(done.folder / "m_libraries" / "libcublas.so.13").exports == ("cublas_answer",)
    assert "undefined reference to `cublasLt_answer'" in _built_again(done, MODULE % (("cublasLt_answer",) * 2))


def test_the_library_itself_is_asked_where_it_is_there(
    build: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lies = library(tmp_path / "site" / "nvidia" / "cublas" / "lib" / "libcublas.so.12")
    library(tmp_path / "site" / "foo" / "lib" / "libfoo.so.1")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"), prepend=":")
    text = MODULE % (("foo_answer",) * 2)
    cmake = FOO.format("") + ADD.format("nvidia::cublas foo::foo")
    done = build(cmake, {"m.cc": text}, "-DKERNPACK_CUDA_MAJOR=12", f"-DPython_EXECUTABLE={sys.executable}")
    assert done.ok, done.log
    assert elf.read(done.folder / "m_libraries" / "libfoo.so.1").exports == ("foo_answer",)
    said = _built_again(done, text.replace("cublas_answer", "cublas_anser"))
    assert f"m: {lies} has no function cublas_anser; correct the name" in said


def _built_again(done: Build, text: str) -> str:
    """The output of a build with other code, which must fail; in one line."""
    (done.folder.parent / "m.cc").write_text(text)
    again = subprocess.run(["cmake", "--build", done.folder], capture_output=True, text=True, check=False)
    assert again.returncode != 0
    return " ".join(again.stdout.split())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (FOO.format(" PREFIX a"), "unknown argument 'PREFIX;a'; the arguments are LIBRARY, REQUIRES, FOLDER"),
        (
            FOO.format("").replace("libfoo.so.1", "foo"),
            "LIBRARY: expected a file's name, such as libfoo.so.1, got 'foo'",
        ),
        (
            FOO.format("").replace("foo>=1,<2", "a b"),
            "REQUIRES: expected a requirement, such as \"foo>=1,<2\", got 'a b'",
        ),
        (
            FOO.format("").replace(" foo/lib", " ../lib"),
            "FOLDER: expected a folder in the wheel, such as foo/lib, got '../lib'",
        ),
        (
            FOO.format("") + ADD.format("foo::foo"),
            'foo::foo: no libfoo.so.1 in the Python that builds: pip install "foo>=1,<2"',
        ),
        (
            ADD.format("nvidia::cublass"),
            "no 'nvidia::cublass'; of NVIDIA's wheels there are nvidia::cublas, nvidia::cublasLt,",
        ),
    ],
)
def test_mistakes_are_named(tmp_path: Path, call: str, said: str) -> None:
    assert said in _configured(tmp_path, call)


def test_a_version_of_cuda_without_wheels_is_refused(tmp_path: Path) -> None:
    assert "libraries are linked (13, 12), got '11'" in _configured(tmp_path, "", "-DKERNPACK_CUDA_MAJOR=11")


def _configured(folder: Path, call: str, *options: str) -> str:
    """The output of CMake, in one line. Without a language, whose compiler would be looked for."""
    head = "cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES NONE)\nfind_package(kernpack REQUIRED)\n"
    (folder / "CMakeLists.txt").write_text(head + call.replace("m.cc", "m.txt"))
    (folder / "m.txt").touch()
    command = ["cmake", "-S", folder, "-B", folder / "build", f"-Dkernpack_DIR={kernpack_sdk.cmake_dir()}"]
    done = subprocess.run(
        [*command, f"-DPython_EXECUTABLE={sys.executable}", *options], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    return " ".join((done.stdout + done.stderr).split())
