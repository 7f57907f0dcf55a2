"""docs/versions.md says what the requirements pin and the projects ask for."""

from __future__ import annotations

import re
import tomllib

import pytest
from blocks import ROOT

PAGE = (ROOT / "docs/versions.md").read_text(encoding="utf-8")


def _row(what: str) -> list[str]:
    (row,) = re.findall(rf"^\| {re.escape(what)} \|(.*)\|$", PAGE, re.MULTILINE)
    return [cell.strip() for cell in row.split("|")]


def _pin(file: str, package: str) -> str:
    text = (ROOT / "requirements" / file).read_text(encoding="utf-8")
    (version,) = re.findall(rf"^{re.escape(package)}==(\S+)", text, re.MULTILINE)
    return version


@pytest.mark.parametrize(
    ("what", "tested"),
    [
        ("PyTorch", [("run.txt", "torch")]),
        ("JAX and jaxlib", [("oldest-jax.txt", "jax"), ("run.txt", "jax")]),
        ("NumPy", [("run.txt", "numpy")]),
        ("`apache-tvm-ffi`", [("oldest-peer.txt", "apache-tvm-ffi"), ("test.txt", "apache-tvm-ffi")]),
    ],
)
def test_tested_versions_are_those_of_the_requirements(what: str, tested: list[tuple[str, str]]) -> None:
    assert _row(what)[1] == ", ".join(_pin(*pin) for pin in tested)


@pytest.mark.parametrize(
    ("what", "file", "package"),
    [("JAX and jaxlib", "oldest-jax.txt", "jax"), ("`apache-tvm-ffi`", "oldest-peer.txt", "apache-tvm-ffi")],
)
def test_the_oldest_supported_is_tested(what: str, file: str, package: str) -> None:
    assert _row(what)[0] == f"{_pin(file, package)} and newer"


@pytest.mark.parametrize("folder", [".", "sdk", "kernels", "bindings/compiler"])
def test_python_is_what_the_wheels_ask_for(folder: str) -> None:
    project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=")
    assert _row("CPython")[0].startswith(f"{oldest} and newer")
