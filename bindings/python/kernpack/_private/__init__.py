"""The list of hooks into private parts of frameworks, and the switch that turns them off. Each framework has a folder.

A hook is used where its check holds in this process, on any version of the framework. A public way gives equal results, later.
docs/private.md says of each hook what it saves and what its check can't see.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import sysconfig
import warnings
from dataclasses import dataclass
from typing import Any

from kernpack import _core
from kernpack._system import WINDOWS

# The versions that the tests have run with, for `kernpack info` alone: they decide nothing.
TESTED = {"torch": "2.10 to 2.14", "jax": "0.6 to 0.12"}


@dataclass(frozen=True)
class Hook:
    name: str  # begins with the framework's
    cost: str  # what the user has without it

    @property
    def framework(self) -> str:
        return self.name.partition(".")[0]


_SLOW = "calls with torch tensors take longer"
HOOKS = {
    hook.name: hook
    for hook in (
        Hook("torch.fields", _SLOW),
        Hook("torch.watchers", _SLOW),
        Hook("torch.versions", "calls that write to torch tensors take longer"),
        Hook("torch.results", "new torch tensors take longer"),
        Hook("torch.operators", "calls that torch's dispatcher must see take longer"),
        Hook("torch.lowerings", "compiled programs may refuse to write to a copy that the compiler removed"),
        Hook("jax.shares", "compiling calls for several devices takes longer"),
    )
}

# Read once: "0" turns all hooks off. Any other text has no effect.
SETTING = os.environ.get("KERNPACK_PRIVATE", "")

# Hooks that were looked for in this process, by whether their check held.
_found: set[str] = set()
_missed: set[str] = set()


@functools.cache
def is_private_allowed(name: str) -> bool:
    """True if the hook may be looked for. If not, one line is logged, once."""
    why = _unwanted(name)
    if why:
        _core.log_debug(f"private hook {name} is off: {why}")
    return not why


def _unwanted(name: str) -> str:
    """Why the hook isn't looked for; empty where it is. A check can't see what other threads do to torch's fields, and no torch without
    a GIL was ever tried. On Windows, torch's C++ names are others."""
    if SETTING == "0":
        return "KERNPACK_PRIVATE=0"
    if name.startswith("torch.") and sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "free-threaded Python"
    if name.startswith("torch.") and WINDOWS:
        return "Windows"
    return ""


def private_found(name: str) -> None:
    """The hook's check held."""
    _found.add(name)


@functools.cache
def private_not_found(name: str) -> None:
    """The hook's check failed: what it looks for is absent, or isn't as expected. The user is told once."""
    hook = HOOKS[name]
    _missed.add(name)
    framework: Any = sys.modules[hook.framework]
    version = f"{hook.framework} {getattr(framework, '__version__', '(no version)')}"
    _core.log_debug(f"private hook {name} is off: {version} isn't as expected")
    warnings.warn(
        f"kernpack: {version} isn't as the hook {name} expects. Results are right, but {hook.cost}. "
        "Install the newest kernpack (pip install -U kernpack); KERNPACK_PRIVATE=0 turns the hooks off without this warning",
        RuntimeWarning,
        stacklevel=2,
    )


def look_for(framework: str) -> None:
    """Looks for every hook into an installed framework, as the first calls do."""
    importlib.import_module(f"kernpack._private.{framework}.look").look()


def private_states(versions: dict[str, str]) -> dict[str, str]:
    """For each hook "on", "off: " and why, "not installed", or "not looked for yet": hooks are looked for when they are first needed."""
    return {name: _state(name, versions[hook.framework]) for name, hook in HOOKS.items()}


def _state(name: str, version: str) -> str:
    framework = HOOKS[name].framework
    if version == "not installed":
        return version
    why = _unwanted(name)
    if why:
        return f"off: {why}"
    if name in _missed:
        return f"off: {framework} {version} isn't as expected"
    return "on" if name in _found else f"not looked for yet (tested with {framework} {TESTED[framework]})"
