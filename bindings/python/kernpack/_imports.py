"""Doing something when a framework has been imported, whoever imports it, without importing it."""

from __future__ import annotations

import _thread
import sys
import warnings
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

_waiting: dict[str, list[Callable[[], None]]] = {}
_lock = _thread.allocate_lock()  # guards _waiting; nothing of others runs under it


def when_imported(name: str, action: Callable[[], None]) -> None:
    """Runs `action` now if the module `name` is imported completely, else, once, when its import ends."""
    if name not in sys.modules and action in _waiting.get(name, ()):
        return  # whose import hasn't begun
    if _is_imported(name):
        action()
        return
    with _lock:
        if not _waiting:
            sys.meta_path.insert(0, _Finder())
        actions = _waiting.setdefault(name, [])
        if action not in actions:
            actions.append(action)
    if _is_imported(name):  # by another thread meanwhile, which may have run those that waited before
        for waited in _taken(name):
            waited()


def _is_imported(name: str) -> bool:
    module = sys.modules.get(name)
    return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)


def _taken(name: str) -> list[Callable[[], None]]:
    """Those that wait, for the one who runs them."""
    with _lock:
        return _waiting.pop(name, [])


class _Finder:
    """Finds nothing by itself: it only wraps what the others find."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in _waiting:
            return None
        for finder in sys.meta_path:
            if isinstance(finder, _Finder) or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
                return spec
        return None


class _Loader:
    """The module's own loader, with something to do afterwards."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        if spec is not None:
            spec.loader = self._loader  # what the module sees is its own loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        for action in _taken(module.__name__):
            try:
                action()
            except Exception as error:  # importing a framework does not fail because of a kernel module
                warnings.warn(f"kernpack, after importing {module.__name__}: {error}", RuntimeWarning, stacklevel=2)
