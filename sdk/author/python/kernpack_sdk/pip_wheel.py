"""pip builds the wheel of a project: from clean, at a path and a time that leave no trace in the result."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from kernpack_sdk import cmake_dir, cross
from kernpack_sdk.build_failure import explained
from kernpack_sdk.progress import run_showing
from kernpack_sdk.project import BuildError

_EPOCH = "315532800"  # 1980-01-01: the first time that a zip file can hold
_INDENT = re.compile(r"^  ", re.MULTILINE)  # of what pip's children print, under `pip -v`
_ENDS = "\nerror: subprocess-exited-with-error"
_BEGINS = "Running command Building wheel for "


def build(
    folder: Path, output: Path, *, isolated: bool, defines: Mapping[str, str], line: Callable[[str], None]
) -> Path:
    """The wheel, in `output`. `line` gets each line that the build prints, as it does. Raises BuildError."""
    pip = [sys.executable, "-m", "pip", "wheel", "-v", "--no-deps", "--no-cache-dir", "-w", str(output)]
    if not isolated:
        pip.append("--no-build-isolation")
        if importlib.util.find_spec("pip") is None:
            raise BuildError("this environment has no pip; python -m ensurepip, then try again")
    # On Windows nobody removes a file that another process, a virus scanner for example, has open.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=cross.own_system() is not None) as scratch:
        # Debian 12's pip, 23.0, has no short form of this option.
        pip += ["--config-settings", f"build-dir={scratch}"]
        pip += [
            word for name, value in defines.items() for word in ("--config-settings", f"cmake.define.{name}={value}")
        ]
        environment = _environment(folder, scratch, isolated)
        code, said = run_showing([*pip, str(folder.absolute())], line, environment=environment)
    if code != 0:
        raise BuildError(_failure(said))
    (wheel,) = output.glob("*.whl")
    return wheel


def _environment(folder: Path, scratch: str, isolated: bool) -> dict[str, str]:
    # A shell takes the flags apart, or Windows: a path may hold spaces.
    maps = [
        f"-ffile-prefix-map={folder.absolute().as_posix()}=.",
        f"-ffile-prefix-map={Path(scratch).as_posix()}=build",
    ]
    join = shlex.join if os.name == "posix" else subprocess.list2cmdline
    environment = {"SOURCE_DATE_EPOCH": _EPOCH, "PYTHONUNBUFFERED": "1"} | dict(os.environ)
    for flags in ("CFLAGS", "CXXFLAGS"):
        environment[flags] = f"{environment.get(flags, '')} {join(maps)}".strip()
    if cross.own_system():
        environment.setdefault("CMAKE_GENERATOR", "Ninja")  # CMake would look for Visual Studio's nmake
    if not isolated:
        environment.setdefault("kernpack_DIR", str(cmake_dir()))  # this SDK, also where it isn't installed
    return environment


def _failure(said: str) -> str:
    """From where the project's own build begins to where pip speaks of itself again."""
    own, found, rest = _INDENT.sub("", said).rpartition(_ENDS)
    text = own if found else rest
    return explained(text.partition(_BEGINS)[2] or text)
