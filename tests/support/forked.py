"""Scripts in processes of their own, forked off one that has imported torch and jax, which takes seconds."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import runpy
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
# None starts a thread that a fork would lose. A module that isn't there is left out.
_CONTEXT.set_forkserver_preload(
    [
        "numpy",
        "torch",
        "torch.distributed.fsdp",
        "torch.distributed.tensor.debug",
        "torch._inductor.compile_fx",
        "jax.numpy",
        "transformers",
        "pytest",
    ]
)
_SECONDS = 480  # on a busy machine a level of the processor takes minutes; under pytest's own limit (pyproject.toml)


def _main(
    script: str, arguments: Sequence[str], variables: Mapping[str, str], places: Sequence[str], output: str
) -> None:
    for descriptor, path in ((1, output), (2, f"{output}.errors")):
        with open(path, "w") as file:
            os.dup2(file.fileno(), descriptor)
    faulthandler.enable()  # run_together ends one that takes too long by SIGABRT, and so has its stacks
    os.environ.clear()
    os.environ.update(variables)
    sys.path[:0] = places
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")


def run_together(
    script: Path, each: Sequence[Sequence[str]], variables: Mapping[str, str], places: Sequence[str], folder: Path
) -> list[str]:
    """Runs the script once for each list of arguments, side by side; their outputs, through files in the folder. Fails if one of them
    fails, or takes longer than _SECONDS."""
    outputs = [folder / f"{script.stem}-{i}" for i in range(len(each))]
    children = [
        _CONTEXT.Process(target=_main, args=(str(script), arguments, dict(variables), places, str(output)))
        for arguments, output in zip(each, outputs, strict=True)
    ]
    end = time.monotonic() + _SECONDS
    for child in children:
        child.start()
    for child in children:
        child.join(max(0, end - time.monotonic()))
    for child in children:
        if child.is_alive():
            os.kill(child.pid or 0, signal.SIGABRT)
            child.join(10)
        if child.is_alive():
            child.kill()
            child.join()
    failed = [
        f"{script.name} {' '.join(arguments)} ended with {child.exitcode}:\n{output.read_text()[-4000:]}\n"
        + Path(f"{output}.errors").read_text()[-4000:]
        for arguments, child, output in zip(each, children, outputs, strict=True)
        if child.exitcode != 0
    ]
    assert not failed, "\n".join(failed)
    return [output.read_text() for output in outputs]


def run(
    script: Path, arguments: Sequence[str], variables: Mapping[str, str], places: Sequence[str], folder: Path
) -> str:
    """The output of the script, run once."""
    (printed,) = run_together(script, [arguments], variables, places, folder)
    return printed
