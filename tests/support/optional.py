"""A package that only some tests of a file use: where it isn't installed, as JAX on Windows, the others run."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import pytest


class _Missing:
    """Stands for the package: a test is skipped as soon as it uses it."""

    def __init__(self, package: str) -> None:
        self._package = package

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest, which collects tests, looks at what is in their file
            raise AttributeError(name)
        pytest.skip(f"{self._package} is not installed")


def optional(module: str, package: str = "jax") -> Any:
    """The module, which needs the package; without the package, an object that skips the tests that use it."""
    if importlib.util.find_spec(package) is None:
        return _Missing(package)
    return importlib.import_module(module)  # an installed package that doesn't import fails
