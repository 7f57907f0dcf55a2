"""Scripts in processes of their own, forked off one that has imported torch, which takes seconds."""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["numpy", "torch", "pytest"])  # none starts a thread that a fork would lose
_SECONDS = 300


def _main(
    script: str, arguments: Sequence[str], variables: Mapping[str, str], places: Sequence[str], output: str
) -> None:
    with open(output, "w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.environ.clear()
    os.environ.update(variables)
    sys.path[:0] = places
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")


def run(
    script: Path, arguments: Sequence[str], variables: Mapping[str, str], places: Sequence[str], output: Path
) -> str:
    """The output of the script, through the file `output`. Fails if the script fails, or takes longer than _SECONDS."""
    child = _CONTEXT.Process(target=_main, args=(str(script), arguments, dict(variables), places, str(output)))
    child.start()
    child.join(_SECONDS)
    if child.is_alive():
        child.kill()
        child.join()
    printed = output.read_text()
    assert child.exitcode == 0, f"{script.name} ended with {child.exitcode}:\n{printed[-4000:]}"
    return printed
