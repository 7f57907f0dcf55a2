"""The version is written once, in kernpack/module.h; everything else reads it there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import kernpack
import kernpack_sdk
import pytest

ROOT = Path(__file__).resolve().parents[3]
HEADER = "ffi/include/kernpack/module.h"
(VERSION,) = re.findall(r'^#define KP_SDK_VERSION "([^"]+)"$', (ROOT / HEADER).read_text(), re.MULTILINE)

PROJECTS = ("pyproject.toml", "sdk/author/pyproject.toml", "bindings/compiler/pyproject.toml", "kernels/pyproject.toml")


@pytest.mark.parametrize("place", PROJECTS)
def test_a_project_reads_the_header(place: str) -> None:
    project = tomllib.loads((ROOT / place).read_text())
    assert "version" not in project["project"]
    read = project["tool"]["scikit-build"]["metadata"]["version"]
    assert (ROOT / place).parent.joinpath(read["input"]).resolve() == ROOT / HEADER
    found = re.search(read["regex"], (ROOT / HEADER).read_text())
    assert found is not None
    assert found["value"] == VERSION


def test_the_compiler_runs_with_the_same_version() -> None:
    project = tomllib.loads((ROOT / "bindings/compiler/pyproject.toml").read_text())
    assert project["tool"]["scikit-build"]["metadata"]["dependencies"]["result"] == ["kernpack=={project[version]}"]


def test_the_changes_are_those_of_this_version() -> None:
    assert re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[:1] == [VERSION]


def test_the_packages_have_it_too() -> None:
    assert kernpack.__version__ == kernpack_sdk.__version__ == VERSION


def test_a_module_says_which_sdk_built_it() -> None:
    module = kernpack.load_inline("int seven() { return 7; }", ["seven"], name="version_test")
    assert module.sdk_version == VERSION
