"""Eight answers at once, one of them to a prompt of 2,048 tokens: python check_batch.py [tokens] [--model x.gguf].

Each has to have the tokens that it has one by one, and the bits of its logits alone in pages. What follows the long prompt is compared
with the float64 reference.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import check
import kernpack
import numpy as np
from batch import answers
from gguf_file import GgufFile, ModelError
from main import shipped_model
from manual import manual
from model import Model
from reference import Reference
from tokens import Tokens

LONG, SHORT = 2048, 7  # the tokens of one prompt; how many others there are


def make_prompts(tokens: Tokens, room: int) -> list[list[int]]:
    """Of different lengths, none longer than `room`."""
    questions = [" ".join(check.PROMPTS[: i + 1]) for i in range(SHORT)]
    asked = [tokens.prompt([{"role": "user", "content": question}]) for question in questions]
    return [prompt[-room:] for prompt in (*asked, manual(tokens, LONG)[:LONG])]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokens", nargs="?", type=int, default=32)
    parser.add_argument("--model", type=Path, help="a GGUF file of the Llama family; default: SmolLM2-135M-Instruct")
    options = parser.parse_args()
    count = options.tokens
    try:
        file = GgufFile(options.model or shipped_model())
        model = Model(kernpack.load("kernpack_kernels"), file)
        prompts = make_prompts(Tokens(file), model.sizes.context - count)
        start = time.perf_counter()
        found = answers(model, prompts, count)
        between = time.perf_counter()
        expected = [check.greedy(model, prompt, count) for prompt in prompts]
        seconds = time.perf_counter() - between
        alone = [answers(model, [prompt], count)[0] for prompt in prompts]
    except ModelError as error:
        print(f"check_batch: {error}", file=sys.stderr)
        return 1
    same = sum(a == b for (x, _), (y, _) in zip(found, expected, strict=True) for a, b in zip(x, y, strict=True))
    bits = all(np.array_equal(x, y) for (_, x), (_, y) in zip(found, alone, strict=True))
    print(
        f"{len(prompts)} prompts of {min(map(len, prompts))} to {len(prompts[-1]):,} tokens, {count} tokens each: "
        f"{same} of {len(prompts) * count} tokens as one by one, in {between - start:.2f} s, one by one in {seconds:.2f} s; "
        f"the logits {'have' if bits else 'do not have'} the bits of each prompt alone"
    )
    tokens, logits = found[-1]
    agree, apart = check.divergence(Reference(file).logits([prompts[-1] + tokens[:-1]], count), [logits])
    print(
        f"after {len(prompts[-1]):,} tokens: the likeliest token agrees with the float64 reference at {agree.sum()} of "
        f"{count} positions, KL divergence: mean {apart.mean():.1e}, largest {apart.max():.1e}"
    )
    # One position may be a tie.
    return 0 if bits and same == len(prompts) * count and agree.sum() >= count - 1 else 1


if __name__ == "__main__":
    sys.exit(main())
