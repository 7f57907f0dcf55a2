"""make chat-divergence: how far SmolLM2's probabilities are from those of its float64 reference, ours and ik-llama-cpp-python's, each
reading the same answers: python divergence.py [prompts] [tokens]. Ends with 1 where ours are farther.

IK_LLAMA_PYTHON names a Python that has the peer: scripts/llama-bench installs one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "chat"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import check
import kernpack
import numpy as np
from gguf_file import GgufFile
from main import shipped_model
from model import Model
from peers import HUGE_PAGES
from reference import Reference
from tokens import Tokens
from tqdm import tqdm

HERE = Path(__file__).resolve().parent


def main() -> int:
    count, length = (int(given) for given in (*sys.argv[1:], 64, 64)[:2])
    python = os.environ.get("IK_LLAMA_PYTHON", "")
    if not Path(python).is_file():
        print(
            "IK_LLAMA_PYTHON names no file: scripts/llama-bench installs the peer, and prints the variable",
            file=sys.stderr,
        )
        return 2
    file = GgufFile(shipped_model())
    tokens, model = Tokens(file), Model(kernpack.load("kernpack_kernels"), file)
    prompts = [tokens.prompt([{"role": "user", "content": text}]) for text in check.PROMPTS[:count]]
    answers = [check.greedy(model, prompt, length) for prompt in tqdm(prompts, desc="answers", leave=False)]
    read = [(prompt, answer) for prompt, (answer, _) in zip(prompts, answers, strict=True)]
    expected = Reference(file).logits([prompt + answer[:-1] for prompt, answer in read], length)
    ours = check.divergence(expected, [found for _, found in answers])
    with tempfile.TemporaryDirectory() as folder:
        theirs = check.divergence(expected, _peer(python, read, Path(folder)))
    print(f"{len(prompts)} prompts x {length} tokens, KL divergence from the float64 reference:")
    for who, (agree, divergence) in (("ours", ours), ("ik-llama-cpp-python", theirs)):
        print(
            f"{who:20} mean {divergence.mean():.1e}, largest {divergence.max():.1e}; likeliest token {agree.mean():.2%}"
        )
    return 0 if ours[1].mean() <= theirs[1].mean() else 1


def _peer(python: str, calls: list[tuple[list[int], list[int]]], folder: Path) -> np.ndarray:
    given, result = folder / "calls.json", folder / "logits.npy"
    given.write_text(json.dumps(calls))
    threads = str(len(os.sched_getaffinity(0)))
    command = [python, HERE / "ik_logits.py", shipped_model(), threads, given, result]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL, env={**os.environ, **HUGE_PAGES})
    return np.load(result, mmap_mode="r")


if __name__ == "__main__":
    sys.exit(main())
