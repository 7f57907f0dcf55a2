"""Several prompts at once: their next tokens go through the matrices together, so that the weights are read once for all."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from gguf_file import ModelError
from model import Model

# A row of a product of integers has the same bits beside any others; it is also what a single token is multiplied by.
COMPUTE = "i16"


def answers(
    model: Model, prompts: Sequence[Sequence[int]], count: int, end: Collection[int] = ()
) -> list[tuple[list[int], np.ndarray]]:
    """The likeliest answer to each prompt, of `count` tokens or up to one of `end`, and the logits that each token was taken from. They
    are those that the prompt has alone, bit by bit."""
    for prompt in prompts:
        if not 0 < len(prompt) <= model.sizes.context - count:
            raise ModelError(
                f"a prompt of {len(prompt)} tokens: there is room for 1 to {model.sizes.context - count} before an "
                f"answer of {count}"
            )
    pages = model.pages([len(prompt) + count for prompt in prompts])
    found: list[list[int]] = [[] for _ in prompts]
    logits = [[model.forward(prompt, pages.of([i]))[0]] for i, prompt in enumerate(prompts)]
    going = list(range(len(prompts)))
    while going:
        for i in going:
            found[i].append(int(np.argmax(logits[i][-1])))
        ended = [i for i in going if len(found[i]) == count or found[i][-1] in end]
        for i in ended:
            pages.give_back(i)
        going = [i for i in going if i not in ended]
        if going:
            rows = model.forward([found[i][-1] for i in going], pages.of(going), every=True, compute=COMPUTE)
            for i, row in zip(going, rows, strict=True):
                logits[i].append(row)
    return [(tokens, np.stack(rows)) for tokens, rows in zip(found, logits, strict=True)]
