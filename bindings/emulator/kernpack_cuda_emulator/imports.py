"""Functions that are called once a module of another package has been imported, or now if it is already there."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class _After(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the module as without it, once, and calls the function when the module's code has run."""

    def __init__(self, name: str, then: Callable[[ModuleType], None]) -> None:
        self._name, self._then = name, then
        self._spec: importlib.machinery.ModuleSpec | None = None

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != self._name or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        self._spec = importlib.util.find_spec(name)
        if self._spec is None or self._spec.loader is None:
            return None
        places = self._spec.submodule_search_locations
        spec = importlib.machinery.ModuleSpec(name, self, origin=self._spec.origin, is_package=places is not None)
        spec.submodule_search_locations = places
        spec.has_location = self._spec.has_location
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        assert self._spec is not None
        assert self._spec.loader is not None
        return self._spec.loader.create_module(self._spec)

    def exec_module(self, module: ModuleType) -> None:
        assert self._spec is not None
        assert self._spec.loader is not None
        module.__spec__, module.__loader__ = self._spec, self._spec.loader
        self._spec.loader.exec_module(module)
        self._then(module)


def after(name: str, then: Callable[[ModuleType], None]) -> None:
    """Calls the function with the module `name`."""
    if name in sys.modules:
        then(sys.modules[name])
    else:
        sys.meta_path.insert(0, _After(name, then))


def link_by_driver() -> None:
    """cuda.core and numba-cuda link kernels with NVIDIA's nvJitLink, which makes machine code, or with the driver where nvJitLink isn't
    installed. Both ask this function whether it is there."""

    def without_nvjitlink(module: ModuleType) -> None:
        find = module._inspect_function_pointer
        module._inspect_function_pointer = lambda name: 0 if name == "__nvJitLinkVersion" else find(name)  # type: ignore[attr-defined]

    after("cuda.bindings._internal.nvjitlink", without_nvjitlink)
