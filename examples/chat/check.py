"""How far the model is from its float64 reference: python check.py [prompts] [tokens] [--model x.gguf] [--host numpy].

Answers are written greedily, then both models read them: at each position of an answer, is the likeliest next token the same, and
how far is one distribution from the other (KL divergence)?
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import kernpack
import numpy as np
from gguf_file import GgufFile, ModelError
from hosts import HOSTS, make
from main import shipped_model
from reference import Reference
from tokens import Tokens
from tqdm import tqdm

AGREE = 0.99
_TOPICS = (
    "the sea", "a steam engine", "bread", "prime numbers", "the moon", "a good book", "winter", "democracy",
    "photosynthesis", "chess", "the number zero", "a violin", "rain", "the Roman Empire", "tea", "gravity",
)  # fmt: skip
_QUESTIONS = (
    "Explain {} to a child.",
    "Write two lines about {}.",
    "What is special about {}?",
    "List three facts about {}.",
)
PROMPTS = [question.format(topic) for question in _QUESTIONS for topic in _TOPICS]


def greedy(model, prompt, count):
    """The answer, and the logits that each of its tokens was taken from."""
    if hasattr(model, "answer"):
        return model.answer(prompt, count)
    cache, found, answer = model.cache(len(prompt) + count), [], []
    logits = model.forward(prompt, cache)
    while True:
        found.append(logits[0])
        answer.append(int(np.argmax(logits[0])))
        if len(answer) == count:
            return answer, np.stack(found)
        logits = model.forward(answer[-1:], cache)


def log_softmax(x):
    x = x.astype(np.float64) - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def compare(model, reference, prompts, count):
    """Of all positions: whether the likeliest tokens agree, and the KL divergence from the reference's distribution."""
    answers = [greedy(model, prompt, count) for prompt in tqdm(prompts, desc="answers", unit="prompt", leave=False)]
    expected = reference.logits(
        [prompt + answer[:-1] for prompt, (answer, _) in zip(prompts, answers, strict=True)], count
    )
    return divergence(expected, [found for _, found in answers])


def divergence(expected, found):
    """Of all positions of these logits: whether the likeliest tokens agree, and the KL divergence."""
    agree, apart = [], []
    for logits, other in zip(expected, found, strict=True):
        p, q = log_softmax(logits), log_softmax(other)
        agree.append(p.argmax(-1) == q.argmax(-1))
        apart.append((np.exp(p) * (p - q)).sum(-1))
    return np.concatenate(agree), np.concatenate(apart)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prompts", nargs="?", type=int, default=64)
    parser.add_argument("tokens", nargs="?", type=int, default=64)
    parser.add_argument("--model", type=Path, help="a GGUF file of the Llama family; default: SmolLM2-135M-Instruct")
    parser.add_argument("--host", choices=HOSTS, default="numpy")
    options = parser.parse_args()
    try:
        file = GgufFile(options.model or shipped_model())
        tokens, model = Tokens(file), make(options.host, kernpack.load("kernpack_kernels"), file)
        prompts = [tokens.prompt([{"role": "user", "content": prompt}]) for prompt in PROMPTS[: options.prompts]]
        agree, apart = compare(model, Reference(file), prompts, options.tokens)
    except ModelError as error:
        print(f"check: {error}", file=sys.stderr)
        return 1
    print(
        f"{options.host}, {len(prompts)} prompts x {options.tokens} tokens: "
        f"the likeliest token agrees at {agree.mean():.2%} of the positions"
    )
    print(f"KL divergence from the float64 reference: mean {apart.mean():.1e}, largest {apart.max():.1e}")
    return 0 if agree.mean() >= AGREE else 1


if __name__ == "__main__":
    sys.exit(main())
