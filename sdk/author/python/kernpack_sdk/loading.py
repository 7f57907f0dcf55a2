"""Checks that the runtime accepts a module that was just built. A compiler sees one op at a time: a KP_GRAD that fits no op builds."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

from kernpack_sdk import shared_object
from kernpack_sdk.check import is_kernel_module

# A folder's files are one module, as in kernpack.load("my_kernels"), or modules that the author loads one by one.
_LOAD = """
import json, sys, kernpack
for folder, files in json.loads(sys.argv[1]).items():
    try:
        kernpack.load(folder)
    except Exception as error:
        try:
            if len(files) == 1:
                raise error
            for file in files:
                kernpack.load(file)
        except Exception:
            sys.exit(f"{type(error).__name__}: {error}")
"""


def refusal(site: Path) -> str:
    """Why kernpack.load refuses a module below the folder; "" where it takes all, or no runtime is installed."""
    if importlib.util.find_spec("kernpack") is None:
        return ""
    folders: dict[str, list[str]] = {}
    for file in shared_object.below(site):
        if is_kernel_module(file):
            folders.setdefault(str(file.parent), []).append(str(file))
    # In a process of its own: a module may crash as it is loaded. A lock would refuse it, as no wheel brought it.
    environment = {name: value for name, value in os.environ.items() if name != "KERNPACK_REQUIRE_LOCK"}
    command = [sys.executable, "-c", _LOAD, json.dumps(folders)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment, check=False)
    if done.returncode < 0:
        return (
            f"loading it ended the process by signal {-done.returncode}; look at static constructors and KP_MODULE_INIT, "
            f"which run then\n{done.stderr}".rstrip()
        )
    return done.stderr.strip() if done.returncode else ""


def lacks_library(refused: str) -> bool:
    """True of a refusal that says nothing of the module: a library of another wheel isn't installed on the machine that builds."""
    return "which isn't installed: pip install" in refused
