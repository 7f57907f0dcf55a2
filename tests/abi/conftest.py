from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.fake import compile_fake_in


@pytest.fixture
def compile_fake(tmp_path: Path) -> Callable[..., Path]:
    """Compiles fake/module.c with these macros into a shared object of its own."""
    return compile_fake_in(tmp_path)
