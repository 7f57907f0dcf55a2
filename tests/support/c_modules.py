"""C sources of tests, compiled into modules of the system that the tests run on."""

from __future__ import annotations

import os

SUFFIX = ".dll" if os.name == "nt" else ".so"


def command() -> tuple[str, ...]:
    """Compiles and links a module; sources, more options and -o follow."""
    if os.name != "nt":
        return ("gcc", "-shared", "-fvisibility=hidden", "-fPIC")
    from kernpack._compile import _compiler  # tests of the ABI on Linux need no package

    return (*_compiler("load", "c").words, "-shared", "-fvisibility=hidden")
