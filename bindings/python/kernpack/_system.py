"""The differences between the systems that Kernpack runs on: names of shared libraries, folders, processes that fork."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

WINDOWS = os.name == "nt"
SUFFIX = ".dll" if WINDOWS else ".so"  # of kernel modules
_EXTENSION_MODULE = re.compile(r"\.(cpython-[^.]*|abi3t?)\.so$")  # Python's own; on Windows they are called .pyd


def library_file(name: str) -> str:
    """The file of a library: libkernpack.so, or kernpack.dll (KP_LIBRARY_FILE of kernpack/loaded.h)."""
    return f"{name}.dll" if WINDOWS else f"lib{name}.so"


def is_module(file: str) -> bool:
    """As far as the name of a file tells."""
    return file.endswith(SUFFIX) and not _EXTENSION_MODULE.search(file)


def cache_home() -> Path:
    """The folder that users' caches are in: ~/.cache, or %LOCALAPPDATA%."""
    if WINDOWS:
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def usable_processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def after_fork(call: Callable[[], None]) -> None:
    """Has child processes that are forked make the call. Processes don't fork on Windows."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=call)
