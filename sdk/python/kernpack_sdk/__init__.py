"""What a kernel author builds with: where headers and the CMake package are, and which flags a module needs.

Used by `kernpack config`, by `kernpack.load_inline` and, through entry points, by scikit-build-core.
"""

from pathlib import Path

__version__ = "0.1.0"

_HERE = Path(__file__).resolve().parent
_INSTALLED = (_HERE / "include").is_dir()  # otherwise a checkout of the repository


def include_dir() -> Path:
    """The folder to pass to -I."""
    return _HERE / "include" if _INSTALLED else _HERE.parents[2] / "ffi" / "include"


def cmake_dir() -> Path:
    """The folder of kernpackConfig.cmake: what CMake calls kernpack_DIR."""
    return _HERE / "lib" / "cmake" / "kernpack" if _INSTALLED else _HERE.parents[1] / "cmake"
