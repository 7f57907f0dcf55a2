"""The wheels kernpack and kernpack-sdk alone: CMake finds the host library in them, so examples have their tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def _site(folder: Path, *wheels: Path) -> Path:
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    return folder / "kernpack_sdk/lib/cmake/kernpack"


def _configured(example: str, package: Path, folder: Path) -> str:
    shutil.copytree(ROOT / "examples" / example, folder)
    options = [f"-Dkernpack_DIR={package}", f"-DPython_EXECUTABLE={sys.executable}", "-G", "Ninja"]
    return _run("cmake", "-S", folder, "-B", folder / "build", *options)


def _run(*command: object) -> str:
    done = subprocess.run(
        [*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def both(runtime_wheel: Path, sdk_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _site(tmp_path_factory.mktemp("site"), runtime_wheel, sdk_wheel)


def test_an_example_is_tested(both: Path, tmp_path: Path) -> None:
    _configured("keyed_workspace", both, tmp_path / "example")
    _run("cmake", "--build", tmp_path / "example/build")
    said = _run("ctest", "--test-dir", tmp_path / "example/build", "--output-on-failure", "--no-tests=error")
    assert "100% tests passed, 0 tests failed out of 1" in said


def test_the_device_example_has_its_tests(both: Path, tmp_path: Path) -> None:
    _configured("custom_device", both, tmp_path / "example")
    said = _run("ctest", "--test-dir", tmp_path / "example/build", "-N")
    assert "Test #1: custom_device" in said
    assert "Test #2: toy_conformance" in said


def test_without_the_runtime_the_missing_wheel_is_named(sdk_wheel: Path, tmp_path: Path) -> None:
    said = _configured("custom_device", _site(tmp_path / "site", sdk_wheel), tmp_path / "example")
    assert "install the wheel kernpack beside kernpack-sdk (pip install kernpack)" in " ".join(said.split())
