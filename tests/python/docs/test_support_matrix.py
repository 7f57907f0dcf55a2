"""docs/versions.md says what the requirements pin and the projects ask for."""

from __future__ import annotations

import re
import tomllib

import pytest
from blocks import ROOT

PAGE = (ROOT / "docs/versions.md").read_text(encoding="utf-8")


def _row(what: str) -> list[str]:
    matrix = PAGE.partition("## Support matrix")[2].partition("\n## ")[0]
    (row,) = re.findall(rf"^\| {re.escape(what)} \|(.*)\|$", matrix, re.MULTILINE)
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
    pinned = _row(what)[1].removesuffix("; the [newest](#newest-versions)")
    assert pinned == ", ".join(_pin(*pin) for pin in tested)


@pytest.mark.parametrize(
    ("what", "file", "package"),
    [("JAX and jaxlib", "oldest-jax.txt", "jax"), ("`apache-tvm-ffi`", "oldest-peer.txt", "apache-tvm-ffi")],
)
def test_the_oldest_supported_is_tested(what: str, file: str, package: str) -> None:
    assert _row(what)[0] == f"{_pin(file, package)} and newer"


@pytest.mark.parametrize("folder", [".", "sdk/author", "kernels", "bindings/compiler"])
def test_python_is_what_the_wheels_ask_for(folder: str) -> None:
    project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=")
    assert _row("CPython")[0].startswith(f"{oldest} and newer")


def _dates() -> list[list[str]]:
    table = PAGE.partition("## Dates")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in row.split("|")] for row in re.findall(r"^\| (.*) \|$", table, re.MULTILINE)]
    return rows[2:]


@pytest.mark.parametrize("what", ["CPython", "PyTorch", "JAX and jaxlib"])
def test_dates_begin_with_the_oldest_supported_version(what: str) -> None:
    oldest = next(row[1] for row in _dates() if row[0] == what)
    assert _row(what)[0].startswith(f"{oldest} and newer")


def test_dates_are_months_and_have_a_source() -> None:
    for what, version, released, until, source in _dates():
        assert re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", released), (what, version)
        assert re.match(r"20\d\d-(0[1-9]|1[0-2])|ended|names no date", until), (what, version)
        assert re.fullmatch(r"\[.+\]\(https://\S+\)", source), (what, version)


def test_the_oldest_torch_is_the_one_that_the_code_asks_for() -> None:
    code = (ROOT / "bindings/torch/kernpack_torch/__init__.py").read_text(encoding="utf-8")
    assert re.findall(r"expected torch >= ([\d.]+)", code) == [_row("PyTorch")[0].removesuffix(" and newer")]


def test_pages_agree_that_kernels_have_run_on_a_gpu() -> None:
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    for page in pages:
        text = " ".join(page.read_text(encoding="utf-8").split())
        said = re.findall(r"[^.|]*not (?:yet )?tested on a GPU[^.|]*", text)
        assert not said, f"{page.name} contradicts docs/gpu.md: {said}"
