"""The compiler wheel is what its tags say, brings no second host, and exports nothing but its init function."""

from __future__ import annotations

import sys
from pathlib import Path

from kernpack_sdk import check, elf


def test_the_wheel_is_for_this_python_and_glibc_2_28(compiler_wheel: Path) -> None:
    python = f"cp3{sys.version_info.minor}"
    assert compiler_wheel.name.endswith(f"-{python}-{python}-manylinux_2_28_x86_64.whl")
    assert check.covers("manylinux_2_28_x86_64", check.platform_tag(compiler_wheel))


def test_the_extension_exports_its_init_function_alone(compiler: Path) -> None:
    (extension,) = compiler.glob("kernpack_compiler/_native*.so")
    so = elf.read(extension)
    assert so.exports == ("PyInit__native",)  # nothing of LLVM
    assert [name for name in so.needed if not check.RUNTIME_LIBRARIES.match(name)] == []  # no libkernpack, no libpython
    assert so.full_relro
    assert not so.executable_stack


def test_it_is_all_of_the_compiler(compiler: Path) -> None:
    """LLVM is in the extension, once with the SDK's own code."""
    assert [file.name.split(".")[0] for file in compiler.rglob("*.so")] == ["_native"]


def test_goes_with_one_runtime(compiler: Path) -> None:
    (info,) = compiler.glob("*.dist-info")
    metadata = (info / "METADATA").read_text()
    (version,) = [line.split(": ")[1] for line in metadata.splitlines() if line.startswith("Version: ")]
    assert f"\nRequires-Dist: kernpack=={version}\n" in metadata
    assert "\nLicense-Expression: Apache-2.0" in metadata
    assert "Apache License" in (info / "licenses/LICENSE").read_text()
