"""What reads the insides of frameworks, which their makers don't promise: a folder for each framework, and this list with its switch.

A hook is used on the versions that it was tested with, unless KERNPACK_PRIVATE says otherwise; behind it stands a public way that gives
the same, later. docs/private.md says of each what it saves and how to test it on a new version.
"""

from __future__ import annotations

import functools
import os
import sys
from dataclasses import dataclass
from typing import Any

from kernpack import _core

Version = tuple[int, int]

TORCH_TESTED: tuple[Version, Version] = ((2, 10), (2, 13))
JAX_TESTED: tuple[Version, Version] = ((0, 6), (0, 10))


@dataclass(frozen=True)
class Hook:
    """One of them; `first` and `last` are the oldest and the newest version that it was tested with."""

    name: str  # begins with the framework's
    first: Version
    last: Version

    @property
    def framework(self) -> str:
        return self.name.partition(".")[0]

    def refused(self, version: str) -> str:
        """Why the hook stays off on that version of its framework; "" where it doesn't."""
        if SETTING == "0":
            return "KERNPACK_PRIVATE=0"
        if SETTING != "any" and not self.first <= parse(version) <= self.last:
            return f"not tested with {self.framework} {version}, only with {_text(self.first)} to {_text(self.last)}"
        return ""


HOOKS = {
    hook.name: hook
    for hook in (
        Hook("torch.fields", *TORCH_TESTED),
        Hook("torch.watchers", *TORCH_TESTED),
        Hook("torch.versions", *TORCH_TESTED),
        Hook("torch.results", *TORCH_TESTED),
        Hook("torch.operators", *TORCH_TESTED),
        Hook("torch.lowerings", *TORCH_TESTED),
        Hook("jax.devices", *JAX_TESTED),
        Hook("jax.shares", *JAX_TESTED),
    )
}

# Read once: "0" turns all hooks off; "any" has them tried on versions that they weren't tested with. Any other text is as none.
SETTING = os.environ.get("KERNPACK_PRIVATE", "")


def parse(version: str) -> Version:
    """(2, 13) of "2.13.0+cpu"; (0, 0) of what isn't a version."""
    parts = version.split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (IndexError, ValueError):
        return 0, 0


def _text(version: Version) -> str:
    return ".".join(map(str, version))


@functools.cache
def is_private_allowed(name: str) -> bool:
    """Whether to use the hook on the loaded version of its framework. Said to the log, once, where not."""
    hook = HOOKS[name]
    framework: Any = sys.modules[hook.framework]
    refused = hook.refused(str(framework.__version__))
    if refused:
        _core.log_debug(f"private hook {name} is off: {refused}")
    return not refused


@functools.cache
def private_not_found(name: str) -> None:
    """For the log: the hook is allowed, but what it looks for isn't there, or isn't what it was."""
    hook = HOOKS[name]
    _core.log_debug(
        f"private hook {name} is off: {hook.framework} {sys.modules[hook.framework].__version__} isn't as expected"
    )


def private_states(versions: dict[str, str]) -> dict[str, str]:
    """For each hook "on", "off: " and why, or "not installed", with the versions of frameworks that are installed. What a hook finds when it is
    first used may still turn it off."""
    found = {}
    for name, hook in HOOKS.items():
        version = versions[hook.framework]
        reason = "" if version == "not installed" else hook.refused(version)
        found[name] = f"off: {reason}" if reason else "on" if version != "not installed" else "not installed"
    return found
