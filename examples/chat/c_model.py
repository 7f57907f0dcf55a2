"""The model as a C program that embeds the host: compiled here, given a prompt's ids, read line by line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import kernpack
import numpy as np
from gguf_file import GgufFile, ModelError, Sizes

SOURCES = Path(__file__).resolve().parent / "c"
HEADERS = Path(__file__).resolve().parents[2] / "ffi" / "include"


def compile_program(folder: Path) -> Path:
    """The program, linked with the libkernpack of the installed package."""
    compiler = os.environ.get("CC", "cc")
    if not shutil.which(compiler):
        raise ModelError(f"the C host needs a C compiler: no {compiler} is installed; set CC to one")
    includes = f"-I{HEADERS}"
    if not HEADERS.is_dir():  # outside the repository: those of kernpack-sdk
        config = [sys.executable, "-m", "kernpack", "config", "--includes"]
        includes = subprocess.run(config, capture_output=True, text=True, check=True).stdout.strip()
    library = Path(kernpack.__file__).parent / "libkernpack.so"
    program = folder / "llama"
    command = [compiler, "-O2", "-std=c99", "-D_POSIX_C_SOURCE=200809L", includes]
    command += [*map(str, sorted(SOURCES.glob("*.c"))), "-o", str(program)]
    command += [str(library), f"-Wl,-rpath,{library.parent}", "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ModelError(f"the C host doesn't compile:\n{done.stderr}")
    return program


class Model:
    requantised: tuple[str, ...] = ()  # formats that would be are refused by the program

    def __init__(self, k: Any, file: GgufFile, progress: Any = iter) -> None:
        self.sizes: Sizes = file.sizes()
        self._file, self._kernels = file, k.path
        self._folder = tempfile.TemporaryDirectory(prefix="kernpack-chat-")
        self._program = compile_program(Path(self._folder.name))

    def stream(self, prompt: Iterable[int], count: int, *options: str) -> Iterator[int]:
        """The likeliest answer's tokens as they come; one that isn't asked for to its end is stopped."""
        command = [
            str(self._program),
            str(self._kernels),
            str(self._file.path),
            str(count),
            *options,
            *map(str, prompt),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            try:
                yield from map(int, running.stdout)
            except GeneratorExit:
                running.kill()
                raise
            if running.wait():
                raise ModelError(running.stderr.read().strip() or f"the C host ended with {running.returncode}")

    def answer(self, prompt: Iterable[int], count: int) -> tuple[list[int], np.ndarray]:
        """The likeliest answer, and the logits that each of its tokens was taken from."""
        kept = Path(self._folder.name) / "logits"
        ids = list(self.stream(prompt, count, "--logits", str(kept)))
        return ids, np.fromfile(kept, np.float32).reshape(count, self.sizes.vocabulary)
