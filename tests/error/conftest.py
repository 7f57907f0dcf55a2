from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from error_kernels import FUNCTIONS, NAME, SOURCE
from support.fake import compile_fake_in

os.environ.setdefault("JAX_PLATFORMS", "cpu")


@pytest.fixture(scope="session")
def k():
    import kernpack

    return kernpack.load_inline(SOURCE, FUNCTIONS, name=NAME)


@pytest.fixture
def compile_fake(tmp_path: Path) -> Callable[..., Path]:
    return compile_fake_in(tmp_path)
