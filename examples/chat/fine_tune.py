"""Trains Hugging Face's model on text, in plain torch and patched with our kernels: python fine_tune.py [--steps 50] [--model x.gguf].

Every run begins with the file's weights and reads the same text, this repository's manual, in a process of its own. The losses of both
are compared step by step. In bf16 they may differ by as much as torch's own runs on one and on two threads, or by the rounding of a loss.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import torch
from gguf_file import GgufFile, ModelError
from hf_model import build
from main import shipped_model
from manual import manual
from tokens import Tokens
from tqdm import tqdm

LIMIT = 1e-3  # between the losses of a step in f32
ROUNDING = 2 * 2**-8  # of a loss in bf16: two units in the last place
LENGTH = 128  # tokens of a step
RATE = 2e-5
Run = tuple[str, str, int]  # dtype, who computes, threads
RUNS: tuple[Run, ...] = (
    ("float32", "torch", 2),
    ("float32", "patched", 2),
    ("bfloat16", "torch", 1),
    ("bfloat16", "torch", 2),
    ("bfloat16", "patched", 2),
)


def main() -> int:
    options = _options()
    try:
        path = options.model or shipped_model()
        GgufFile(path)
    except ModelError as error:
        print(f"fine_tune: {error}", file=sys.stderr)
        return 1
    found = {}
    for run in tqdm(RUNS, desc="runs", leave=False):
        found[run] = _in_a_process(run, path, options.steps)
        _print(run, found[run])
    return 0 if _agree(found) else 1


def train(path: Path, dtype: str, who: str, threads: int, steps: int) -> dict[str, Any]:
    """The loss of each step, the seconds of the quickest one, and the most memory that this process had, in MiB."""
    import kernpack
    import kernpack_kernels.torch

    torch.set_num_threads(threads)
    kernpack.set_num_threads(threads)
    torch.manual_seed(0)
    file = GgufFile(path)
    length = min(LENGTH, file.sizes().context)
    text = manual(Tokens(file), steps * length)
    model = build(file).to(getattr(torch, dtype)).train()
    if who == "patched":
        kernpack_kernels.torch.patch(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, fused=True)
    losses, seconds = [], []
    for step in tqdm(range(steps), desc=f"{who}, {dtype}", leave=False):
        ids = torch.tensor([text[step * length : (step + 1) * length]])
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = model(input_ids=ids, labels=ids, use_cache=False).loss
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)
        losses.append(loss.item())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"losses": losses, "seconds": min(seconds), "memory": memory}


def _in_a_process(run: Run, path: Path, steps: int) -> dict[str, Any]:
    """Of its own, for its memory and its threads. Forked off one that has imported torch and transformers, which takes longer than short
    runs, and has computed nothing: OpenMP's threads would be lost, and the child would wait for them."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "transformers.models.llama.modeling_llama"])
    with ProcessPoolExecutor(1, context) as process:
        return process.submit(train, path, *run, steps).result()


def _print(run: Run, found: dict[str, Any]) -> None:
    dtype, who, threads = run
    losses = found["losses"]
    print(
        f"{dtype:9} {who:8} {threads} thread{'s' if threads > 1 else ' '}  loss {losses[0]:.4f} -> {losses[-1]:.4f}  "
        f"{found['seconds'] * 1e3:6,.0f} ms per step  {found['memory']:6,.0f} MiB"
    )


def _agree(found: dict[Run, dict[str, Any]]) -> bool:
    losses = {run: result["losses"] for run, result in found.items()}
    plain, patched = losses["float32", "torch", 2], losses["float32", "patched", 2]
    exact = _apart(plain, patched)
    ours = _apart(losses["bfloat16", "torch", 2], losses["bfloat16", "patched", 2])
    theirs = _apart(losses["bfloat16", "torch", 1], losses["bfloat16", "torch", 2])
    rounding = ROUNDING * max(losses["bfloat16", "torch", 2])
    print(f"float32:  patched and torch differ by {exact:.1e} at most in a step (limit {LIMIT:.0e})")
    print(f"bfloat16: patched and torch differ by {ours:.1e} (limit {max(theirs, rounding):.1e})")
    print(f"bfloat16: torch on one thread and torch on two differ by {theirs:.1e}")
    return exact <= LIMIT and ours <= max(theirs, rounding)


def _apart(a: list[float], b: list[float]) -> float:
    return max((abs(x - y) for x, y in itertools.zip_longest(a, b, fillvalue=float("nan"))), default=0.0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--model", type=Path, help="a GGUF file of the Llama family; default: SmolLM2-135M-Instruct")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
