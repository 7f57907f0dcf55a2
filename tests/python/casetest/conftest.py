"""The planted modules, compiled once and kept in the inline cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import kernpack
import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def compiled() -> Callable[[str], str]:
    """The path of the module that a source file becomes."""

    def compile_(source: str) -> str:
        return kernpack.load_inline((HERE / source).read_text()).path

    return compile_
