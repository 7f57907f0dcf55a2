"""kernpack/dlpack.h with the newest dlpack.h, torch's, and the oldest in use: layouts and conversions both ways."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from support.host import INCLUDE, library_path
from test_layout import HERE, compile_only, package_folder

DEBIAN = Path("/usr/include/dlpack/dlpack.h")
STRICT = ("-Wall", "-Wextra", "-Werror")


def _oldest() -> Path:
    assert DEBIAN.is_file(), f"{DEBIAN} is missing: apt-get install libdlpack-dev (make test does)"
    return DEBIAN.parents[1]


def _newest() -> Path:
    return package_folder("tvm_ffi") / "include"


def _version(include: Path) -> tuple[int, int]:
    text = (include / "dlpack/dlpack.h").read_text(encoding="utf-8")
    if before_1_0 := re.search(r"#define DLPACK_VERSION (\d+)", text):
        return divmod(int(before_1_0[1]), 100)  # 60: 0.6
    major, minor = (re.search(rf"#define DLPACK_{part}_VERSION (\d+)", text) for part in ("MAJOR", "MINOR"))
    assert major is not None
    assert minor is not None
    return int(major[1]), int(minor[1])


def test_the_headers_are_of_the_versions_that_the_manual_names() -> None:
    assert _version(_newest()) >= (1, 3)
    assert _version(_oldest())[0] <= 1


def test_layouts_are_those_of_the_oldest_header() -> None:
    ran = compile_only("g++", "-std=c++17", f"-I{_oldest()}", str(HERE / "oldest_dlpack.cc"))
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("version", ["oldest", "newest"])
@pytest.mark.parametrize("program", ["dlpack_use.c", "dlpack_use.cc"])
def test_tensors_and_their_flags_go_both_ways(version: str, program: str, tmp_path: Path) -> None:
    library = library_path().parent
    # Debian's is in the compiler's own folders, before which no folder may name them again.
    header = ["-isystem", str(_newest())] if version == "newest" else []
    assert version == "newest" or _oldest()
    compiler = ("gcc", "-std=c99", "-Wpedantic") if program.endswith(".c") else ("g++", "-std=c++17")
    # As a system's header: the warnings are about ours. Optimised: an alias that the language forbids would show.
    build = [*compiler, "-O2", *STRICT, f"-I{INCLUDE}", *header, str(HERE / program)]
    build += ["-o", str(tmp_path / "use"), f"-L{library}", "-lkernpack", f"-Wl,-rpath,{library}"]
    built = subprocess.run(build, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([tmp_path / "use"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stdout
