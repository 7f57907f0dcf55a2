"""Tells PyInstaller where its hooks are, through the entry point `pyinstaller40`, when it freezes a program that imports kernpack.

A kernel package needs a hook, since nothing imports its shared objects. One is written for each package that announces itself under
`kernpack.modules`, so that authors don't write any.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from kernpack._compile import cache_dir
from kernpack._load import installed

_HOOK = "from kernpack._freeze.package import collected\n\ndatas, binaries = collected({package!r})\n"


def hook_dirs() -> list[str]:
    return [str(Path(__file__).with_name("hooks")), str(_written())]


def _written() -> Path:
    """The folder with the packages' hooks. PyInstaller reads it after this process has ended, so it stays."""
    folder = cache_dir() / "hooks"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _write(folder)
    except OSError:
        return _write(Path(tempfile.mkdtemp(prefix="kernpack_hooks_")))


def _write(folder: Path) -> Path:
    for package in set(installed().values()):
        partial = folder / f".{package}.{os.getpid()}"
        partial.write_text(_HOOK.format(package=package), encoding="utf-8")
        partial.replace(folder / f"hook-{package}.py")
    return folder
