"""The model of examples/chat, in its NumPy host."""

from __future__ import annotations

from typing import Any

from gguf_file import GgufFile
from main import shipped_model
from model import Model


def open_model(k: Any) -> Any:
    return Model(k, GgufFile(shipped_model()))
