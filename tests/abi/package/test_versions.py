"""The version is written in several files, because each is read by another tool; they agree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import kernpack
import kernpack_sdk
import pytest

ROOT = Path(__file__).resolve().parents[3]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

PLACES = {
    "CMakeLists.txt": r"project\(kernpack VERSION (\S+)",
    "sdk/CMakeLists.txt": r"project\(kernpack_sdk VERSION (\S+)",
    "sdk/pyproject.toml": r'^version = "([^"]+)"',
    "sdk/python/kernpack_sdk/__init__.py": r'^__version__ = "([^"]+)"',
    "sdk/python_compiler/kernpack_compiler/__init__.py": r'^__version__ = "([^"]+)"',
    "ffi/include/kernpack/module.h": r'^#define KP_SDK_VERSION "([^"]+)"',
    "kernels/CMakeLists.txt": r"project\(kernpack_kernels VERSION (\S+)",
    "kernels/pyproject.toml": r'^version = "([^"]+)"',
    "CHANGELOG.md": r"^## (\S+)",
}


@pytest.mark.parametrize("place", PLACES)
def test_every_file_has_the_same_version(place: str) -> None:
    assert re.findall(PLACES[place], (ROOT / place).read_text(), re.MULTILINE)[:1] == [VERSION]


def test_the_compiler_is_built_by_and_runs_with_the_same_version() -> None:
    text = (ROOT / "sdk/python_compiler/pyproject.toml").read_text()
    own = re.findall(r'^version = "([^"]+)"', text, re.MULTILINE)
    others = re.findall(r'"kernpack(?:-sdk)?==([^"]+)"', text)
    assert (own, others) == ([VERSION], [VERSION, VERSION])


def test_the_packages_have_it_too() -> None:
    assert kernpack.__version__ == kernpack_sdk.__version__ == VERSION


def test_a_module_says_which_sdk_built_it() -> None:
    module = kernpack.load_inline("int seven() { return 7; }", ["seven"], name="version_test")
    assert module.sdk_version == VERSION
