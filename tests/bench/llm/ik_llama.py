"""ik-llama-cpp-python's speed, in the Python that has it: MODEL THREADS PROMPT DEPTH. Prints what llama-bench prints."""

from __future__ import annotations

import json
import sys
import time

from ik_llama_cpp import IkLlama
from ik_llama_cpp._ctypes_api import llama_batch_free
from ik_llama_cpp._internals import make_batch_range

STEP = 512  # tokens that it reads at once


def main() -> None:
    path, threads, prompt, depth = sys.argv[1], *map(int, sys.argv[2:])
    model = IkLlama(path, n_ctx=max(prompt, depth) + 64, n_threads=threads, verbose=False)
    ids, samples = [1 + 7 * i % 40000 for i in range(prompt + depth + 64)], []
    for _ in range(3):
        model._context.kv_cache_clear()
        read(model, ids[:depth], 0)
        for done in range(1 if prompt else 16):
            count = prompt or 1
            start = time.perf_counter()
            read(model, ids[depth + done : depth + done + count], depth + done)
            samples.append(count / (time.perf_counter() - start))
    print(json.dumps([{"samples_ts": samples}]))


def read(model: IkLlama, ids: list[int], position: int) -> None:
    """Without sampling, which this package does in Python."""
    for first in range(0, len(ids), STEP):
        batch = make_batch_range(ids[first : first + STEP], pos_start=position + first, logits_last=True)
        status = model._context.decode(batch)
        llama_batch_free(batch)
        if status:
            sys.exit(f"llama_decode returned {status} at token {position + first}")


if __name__ == "__main__":
    main()
