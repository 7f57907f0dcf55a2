"""ik-llama-cpp-python's logits, in the Python that has it: MODEL THREADS CALLS RESULT. CALLS is JSON, [prompt, answer] of each; RESULT
becomes an array [calls, tokens of an answer, vocabulary] of the logits that each token of an answer is taken from."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from ik_llama import read
from ik_llama_cpp import IkLlama
from ik_llama_cpp._ctypes_api import llama_get_logits_ith, llama_model_get_vocab, llama_vocab_n_tokens


def main() -> None:
    path, threads, calls, result = sys.argv[1], int(sys.argv[2]), json.loads(Path(sys.argv[3]).read_text()), sys.argv[4]
    longest = max(len(prompt) + len(answer) for prompt, answer in calls)
    model = IkLlama(path, n_ctx=longest + 64, n_threads=threads, verbose=False)
    size = llama_vocab_n_tokens(llama_model_get_vocab(model._model.model))
    found = np.lib.format.open_memmap(result, "w+", np.float32, (len(calls), len(calls[0][1]), size))
    for of_call, (prompt, answer) in zip(found, calls, strict=True):
        model._context.kv_cache_clear()
        # One after another: of a prompt that it reads at once, this version's logits are others, on AMD's avx512_vnni at least.
        for i, token in enumerate(prompt):
            read(model, [token], i)
        for i, token in enumerate(answer):
            of_call[i] = np.ctypeslib.as_array(llama_get_logits_ith(model.ctx, -1), (size,))
            read(model, [token], len(prompt) + i)


if __name__ == "__main__":
    main()
