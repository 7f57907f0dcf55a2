"""Cache folders of a test's own."""

from __future__ import annotations

import shutil
from pathlib import Path

from kernpack._compile import _compiler, cache_dir
from kernpack_sdk import support


def with_support(folder: Path) -> Path:
    """The folder, for KERNPACK_CACHE_DIR: it holds the support library of modules, which takes two seconds to compile, and nothing else."""
    kept, compiler = cache_dir() / "support", _compiler("load_inline", "c++")
    support.objects(kept, compiler, gnu=compiler.is_gnu)
    shutil.copytree(kept, folder / "support", ignore=shutil.ignore_patterns(".*"))  # another process may be writing
    return folder
