"""Blocks of ggml's formats as they lie in a GGUF file, with bytes at random; the gguf package doesn't quantise to the K formats."""

import numpy as np

FORMATS = ("q4_0", "q4_1", "q8_0", "q4_k", "q6_k")
BLOCK_BYTES = {"q4_0": 18, "q4_1": 20, "q8_0": 34, "q4_k": 144, "q6_k": 210}
BLOCK_COLUMNS = {"q4_0": 32, "q4_1": 32, "q8_0": 32, "q4_k": 256, "q6_k": 256}
HALVES = {"q4_0": (0,), "q4_1": (0, 2), "q8_0": (0,), "q4_k": (0, 2), "q6_k": (208,)}  # where a block's f16 numbers are


def random_blocks(rng, form, n, columns, scale=1 / 64):
    """Bytes at random, but for scales of about `scale`, of either sign."""
    size = BLOCK_BYTES[form]
    blocks = rng.integers(0, 256, (n, columns // BLOCK_COLUMNS[form], size)).astype(np.uint8)
    for at in HALVES[form]:
        scales = (rng.normal(size=blocks.shape[:2]) * scale).astype(np.float16)
        blocks[:, :, at : at + 2] = scales[..., None].view(np.uint8)
    return blocks.reshape(n, -1)
