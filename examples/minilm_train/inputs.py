"""Sentence pairs as batches of the model's inputs."""

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "minilm"))  # the model and its weights are that example's

import data  # noqa: E402

BATCH = 8

# Of the training, in every framework.
RATE = 0.02
SCALE = 3.0
FROZEN = "embeddings.word_embeddings.weight"  # as usual in fine-tuning; it costs no gradient


def batches():
    """The model's inputs, i32[16, tokens] each: the left sentences of 8 pairs, then the right ones."""
    pairs = [line.split("\t") for line in (HERE / "pairs.txt").read_text(encoding="utf-8").splitlines()]
    left, right = (data.tokenize(side) for side in zip(*pairs, strict=True))
    blocks = [left[i : i + BATCH] + right[i : i + BATCH] for i in range(0, len(pairs), BATCH)]
    return list(data.batches([ids for block in blocks for ids in block], 2 * BATCH))


def weights():
    """Name to f32 array, without what an embedding of a sentence does not use."""
    return {name: np.array(array) for name, array in data.load_weights().items() if not name.startswith("pooler")}
