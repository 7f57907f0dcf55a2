"""Paths and flags for kernel authors: the folders of the headers and of the CMake package, and the flags that a module needs.

Used by `kernpack config`, by `kernpack.load_inline` and, through entry points, by scikit-build-core.
"""

import re as _re
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_INSTALLED = (_HERE / "include").is_dir()  # otherwise a checkout of the repository


def include_dir() -> Path:
    """The folder to pass to -I."""
    return _HERE / "include" if _INSTALLED else _HERE.parents[3] / "ffi" / "include"


def cmake_dir() -> Path:
    """The folder of kernpackConfig.cmake: what CMake calls kernpack_DIR."""
    return _HERE / "lib" / "cmake" / "kernpack" if _INSTALLED else _HERE.parents[1] / "cmake"


def _version() -> str:
    """That of the headers, which modules are compiled with and which name it."""
    text = (include_dir() / "kernpack" / "module.h").read_text(encoding="utf-8")
    found = _re.search(r'^#define KP_SDK_VERSION "([^"]+)"$', text, _re.MULTILINE)
    if found is None:
        raise ImportError(f"{include_dir()}/kernpack/module.h: expected a line #define KP_SDK_VERSION, found none")
    return found[1]


__version__ = _version()
