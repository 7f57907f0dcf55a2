"""Reads GGUF files as `make chat` does, and runs a model that can be read. Takes a path per line, and answers with a line.

`read`, or what is wrong. What isn't a ModelError ends the program, and so does a file that takes long.
"""

from __future__ import annotations

import resource
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "chat"))

import kernpack
from gguf_file import GgufFile, ModelError
from model import Model
from tokens import Tokens

MEMORY = 4 << 30  # addresses; the files are small, what the process begins with isn't
SECONDS = 30


def read(k, path: Path) -> str:
    try:
        file = GgufFile(path)
        Tokens(file).prompt([{"role": "user", "content": "Hello"}])
        model = Model(k, file)
        model.forward([1, 2, 3], model.cache(3))
    except ModelError as error:
        return str(error)
    return "read"


def main() -> None:
    k = kernpack.load("kernpack_kernels")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for line in sys.stdin:
        signal.alarm(SECONDS)
        print(read(k, Path(line.rstrip("\n"))).replace("\n", " "), flush=True)


if __name__ == "__main__":
    main()
