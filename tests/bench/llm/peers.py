"""Other programs that run the same GGUF file: llama.cpp built for this machine, and the fastest wheel that was found.

LLAMA_BENCH names llama.cpp's own benchmark, IK_LLAMA_PYTHON a Python that has ik-llama-cpp-python: scripts/llama-bench makes both.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}  # as NumPy asks for with ours
NOT_MEASURED = {"onnxruntime-genai, openvino-genai": "they need the model in formats of their own"}


@dataclass(frozen=True)
class Peer:
    name: str
    program: Path

    def tokens_per_second(self, threads: int, prompt: int, depth: int) -> float:
        """The best of a few: of a prompt, or, where that is 0, of single tokens after `depth` others."""
        from main import shipped_model

        run = _llama_bench if self.name == "llama.cpp" else _ik_llama
        done = subprocess.run(
            run(self.program, shipped_model(), threads, prompt, depth),
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, **HUGE_PAGES},
        )
        return max(json.loads(done.stdout)[0]["samples_ts"])


def present() -> list[Peer]:
    return [Peer(name, Path(path)) for name, path in _paths().items() if path and Path(path).is_file()]


def missing() -> dict[str, str]:
    """The peers that aren't measured, and the reasons."""
    names = {peer.name for peer in present()}
    absent = dict.fromkeys(_paths(), "scripts/llama-bench builds it, and says which variable names it")
    return {name: reason for name, reason in {**absent, **NOT_MEASURED}.items() if name not in names}


def _paths() -> dict[str, str]:
    return {
        "llama.cpp": os.environ.get("LLAMA_BENCH", ""),
        "ik-llama-cpp-python": os.environ.get("IK_LLAMA_PYTHON", ""),
    }


def _llama_bench(program: Path, model: Path, threads: int, prompt: int, depth: int) -> list[str]:
    of = ["-p", str(prompt), "-n", "0"] if prompt else ["-p", "0", "-n", "16", "-d", str(depth)]
    return [str(program), "-m", str(model), *of, "-t", str(threads), "-r", "3", "-o", "json"]


def _ik_llama(program: Path, model: Path, threads: int, prompt: int, depth: int) -> list[str]:
    return [str(program), str(HERE / "ik_llama.py"), str(model), str(threads), str(prompt), str(depth)]
