"""The wheels for aarch64 that were cross-compiled: true to their tags, and with what the wheels for x86-64 have.

They are built every week and before a release (scripts/whole), or by `make wheels`.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from kernpack_sdk import check, elf, table

Find = Callable[[str], Path]
NAMES = ["kernpack", "kernpack_kernels"]
DIST = Path(__file__).resolve().parents[3] / "dist/aarch64"
pytestmark = pytest.mark.skipif(
    not list(DIST.glob("kernpack_kernels-*.whl")), reason="dist/aarch64 has no wheels: `make release-check` builds them"
)


@pytest.fixture(scope="module", params=NAMES)
def unpacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, find_wheel: Find) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    with zipfile.ZipFile(find_wheel(f"aarch64/{request.param}")) as archive:
        archive.extractall(folder)
    return folder


def test_the_wheels_are_for_aarch64_and_every_python(find_wheel: Find) -> None:
    tags = ["-cp311-abi3-manylinux_2_28_aarch64.whl", "-py3-none-manylinux_2_28_aarch64.whl"]
    assert [find_wheel(f"aarch64/{name}").name.endswith(tag) for name, tag in zip(NAMES, tags, strict=True)] == [
        True
    ] * 2


@pytest.mark.parametrize("name", NAMES)
def test_check_finds_no_problem(name: str, find_wheel: Find) -> None:
    assert check.check(find_wheel(f"aarch64/{name}")) == []


def test_every_binary_is_for_aarch64(unpacked: Path) -> None:
    assert {elf.read(file).machine for file in unpacked.rglob("*.so")} == {"EM_AARCH64"}


@pytest.mark.parametrize("name", NAMES)
def test_the_files_are_those_of_the_wheel_for_x86_64(name: str, find_wheel: Find) -> None:
    def files(wheel: Path) -> set[str]:
        with zipfile.ZipFile(wheel) as archive:
            return set(archive.namelist())

    assert files(find_wheel(f"aarch64/{name}")) == files(find_wheel(name))


def test_stubs_and_functions_are_those_of_the_wheel_for_x86_64(kernels: Path, tmp_path: Path, find_wheel: Find) -> None:
    with zipfile.ZipFile(find_wheel("aarch64/kernpack_kernels")) as archive:
        archive.extractall(tmp_path)
    stubs = [(folder / "kernpack_kernels/__init__.pyi").read_text() for folder in (kernels, tmp_path)]
    assert stubs[0] == stubs[1]
    here, there = (table.read(next(folder.rglob("*.so"))) for folder in (kernels, tmp_path))
    assert [each for each in there if each.target is None] == [each for each in here if each.target is None]
    assert {each.target for each in there} == {
        None,
        "llvm -mattr=+crc,+lse,+rdm,+dotprod -mtriple=aarch64-linux-gnu",
        "llvm -mattr=+crc,+lse,+rdm,+dotprod,+i8mm,+bf16 -mtriple=aarch64-linux-gnu",
    }
