"""The layouts that abi.h promises, pinned, and compared with those of the installed peers. Nothing is run."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest
from support.host import INCLUDE

HERE = Path(__file__).parent
C_COMPILERS = [c for c in ("gcc", "clang-19") if shutil.which(c)]
CXX_COMPILERS = [c for c in ("g++", "clang++-19") if shutil.which(c)]


def compile_only(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command, "-fsyntax-only", f"-I{INCLUDE}"], capture_output=True, text=True, check=False)


def package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    assert spec is not None, f"{name} is not installed; pip install -r requirements/test.txt"
    assert spec.origin is not None
    return Path(spec.origin).parent


@pytest.mark.parametrize("compiler", C_COMPILERS)
@pytest.mark.parametrize("standard", ["c99", "c11"])
@pytest.mark.parametrize("pins", ["layout_pins.c", "device_pins.c"])
def test_pins_in_c(compiler: str, standard: str, pins: str) -> None:
    ran = compile_only(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", str(HERE / pins))
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("compiler", CXX_COMPILERS)
@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_pins_in_cxx(compiler: str, standard: str) -> None:
    ran = compile_only(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", str(HERE / "layout_pins.cc"))
    assert ran.returncode == 0, ran.stderr


def test_a_moved_field_fails_the_pins(tmp_path: Path) -> None:
    header = (INCLUDE / "kernpack" / "abi.h").read_text()
    moved = header.replace("  uint32_t min_host_abi; /*", "  uint64_t min_host_abi; /*")
    assert moved != header
    (tmp_path / "kernpack").mkdir()
    (tmp_path / "kernpack" / "abi.h").write_text(moved)
    ran = subprocess.run(
        ["g++", "-std=c++17", "-fsyntax-only", f"-I{tmp_path}", str(HERE / "layout_pins.cc")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "KpModule.name moved" in ran.stderr


def test_against_apache_tvm_ffi() -> None:
    include = package_folder("tvm_ffi") / "include"
    ran = compile_only("g++", "-std=c++17", f"-I{include}", str(HERE / "peer_layout.cc"))
    assert ran.returncode == 0, ran.stderr


def test_against_torch() -> None:
    include = package_folder("torch") / "include"
    ran = compile_only("g++", "-std=c++17", f"-I{include}", str(HERE / "torch_dlpack.cc"))
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    "header",
    [
        "abi.h",
        "host/host.h",
        "host/signature.h",
        "host/target.h",
        "host/xla.h",
        "host/torch.h",
        "device_api.h",
        "host/device.h",
    ],
)
def test_c_headers_compile_alone(header: str, tmp_path: Path) -> None:
    source = tmp_path / "alone.c"
    source.write_text(f"#include <kernpack/{header}>\ntypedef int unit_is_not_empty;\n")
    for compiler in C_COMPILERS:
        ran = compile_only(compiler, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", str(source))
        assert ran.returncode == 0, ran.stderr
