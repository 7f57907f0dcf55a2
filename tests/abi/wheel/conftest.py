"""The wheels in dist/, as `make wheels` leaves them."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def _find_wheel(prefix: str) -> Path:
    found = sorted((ROOT / "dist").glob(f"{prefix}-[0-9]*.whl"))
    if len(found) != 1:
        pytest.fail(f"dist/ holds {len(found)} wheels named {prefix}-*, expected 1: run `make wheels`")
    return found[0]


def _unpacked(prefix: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(prefix)
    with zipfile.ZipFile(_find_wheel(prefix)) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="session")
def find_wheel() -> Callable[[str], Path]:
    """Of a prefix, "kernpack" or "aarch64/kernpack", the one wheel."""
    return _find_wheel


@pytest.fixture(scope="session")
def runtime_wheel() -> Path:
    return _find_wheel("kernpack")


@pytest.fixture(scope="session")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runtime wheel's content."""
    return _unpacked("kernpack", tmp_path_factory)


@pytest.fixture(scope="session")
def sdk_wheel() -> Path:
    return _find_wheel("kernpack_sdk")


@pytest.fixture(scope="session")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _unpacked("kernpack_sdk", tmp_path_factory)


@pytest.fixture(scope="session")
def kernels_wheel() -> Path:
    return _find_wheel("kernpack_kernels")


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _unpacked("kernpack_kernels", tmp_path_factory)


@pytest.fixture(scope="session")
def compiler_wheel() -> Path:
    return _find_wheel("kernpack_compiler")


@pytest.fixture(scope="session")
def emulator_wheel() -> Path:
    return _find_wheel("kernpack_cuda_emulator")


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _unpacked("kernpack_cuda_emulator", tmp_path_factory)


@pytest.fixture(scope="session")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _unpacked("kernpack_compiler", tmp_path_factory)
