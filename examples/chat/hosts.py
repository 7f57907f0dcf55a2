"""Who runs the model: each host says the same layers in its own way, over the same kernels."""

from __future__ import annotations

import importlib
from typing import Any

from gguf_file import GgufFile, ModelError
from packed import Progress

# The file, and what makes the model in it.
HOSTS = {
    "numpy": ("model", "Model"),
    "torch": ("torch_model", "Model"),
    "torch-compile": ("torch_model", "compiled"),
    "jax": ("jax_model", "Model"),
    "c": ("c_model", "Model"),
    "hf": ("hf_model", "Model"),
}


def make(host: str, k: Any, file: GgufFile, progress: Progress = iter) -> Any:
    module, name = HOSTS[host]
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModelError(
            f"the host {host} needs {error.name}: pip install {error.name}, or take another host"
        ) from None
    return getattr(found, name)(k, file, progress)
