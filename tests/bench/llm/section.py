"""One section of make bench-llm in this process: python section.py NAME THREADS. Prints its rows as JSON."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import asdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "examples" / "chat"))
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))


def main() -> None:
    name, threads = sys.argv[1], int(sys.argv[2])
    import kernpack
    import torch

    torch.set_num_threads(threads)
    kernpack.set_num_threads(threads)
    torch.manual_seed(0)
    rows = importlib.import_module(f"sections.{name}").measure(kernpack.load("kernpack_kernels"), threads)
    print(json.dumps([asdict(row) for row in rows]))


if __name__ == "__main__":
    main()
