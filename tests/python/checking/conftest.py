"""The modules of planted bugs, compiled once and kept in the inline cache."""

from __future__ import annotations

import subprocess
from pathlib import Path

import kernpack
import kernpack_sdk
import pytest
from support import c_modules

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def planted() -> kernpack.Module:
    return kernpack.load_inline((HERE / "planted.cc").read_text())


@pytest.fixture(scope="session")
def planted_state() -> kernpack.Module:
    return kernpack.load_inline((HERE / "planted_state.cc").read_text())


@pytest.fixture(scope="session")
def planted_c(tmp_path_factory: pytest.TempPathFactory) -> kernpack.Module:
    built = tmp_path_factory.mktemp("planted") / f"planted_c{c_modules.SUFFIX}"
    command = [*c_modules.command(), "-std=c99", "-O1", f"-I{kernpack_sdk.include_dir()}"]
    subprocess.run([*command, str(HERE / "planted.c"), "-o", str(built)], check=True)
    return kernpack.load(str(built))
