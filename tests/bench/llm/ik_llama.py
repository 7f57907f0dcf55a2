"""ik-llama-cpp-python's speed, in the Python that has it: MODEL THREADS PROMPT DEPTH. Prints what llama-bench prints."""

from __future__ import annotations

import json
import sys
import time

from llama_cpp import Llama


def main() -> None:
    path, threads, prompt, depth = sys.argv[1], *map(int, sys.argv[2:])
    count = prompt or 1
    model = Llama(
        path, n_ctx=count + depth + 64, n_batch=512, n_threads=threads, n_threads_batch=threads, verbose=False
    )
    ids, samples = [1 + 7 * i % 40000 for i in range(count + depth)], []
    for _ in range(3):
        model.reset()
        if depth:
            model.eval(ids[:depth])
        for _ in range(1 if prompt else 16):
            start = time.perf_counter()
            model.eval(ids[depth:])
            samples.append(count / (time.perf_counter() - start))
    print(json.dumps([{"samples_ts": samples}]))


if __name__ == "__main__":
    main()
