"""The MiniLM of examples/minilm with any provider's operations."""

import sys
from pathlib import Path

MINILM = Path(__file__).resolve().parent.parent / "minilm"
sys.path.insert(0, str(MINILM))  # the model, its weights, its page and its frameworks are that example's

import data  # noqa: E402
import numpy as np  # noqa: E402
from frameworks import EMBEDDERS  # noqa: E402

BATCH = 8
SENTENCES = 8


def embeddings(providers):
    """For each framework its name, and a provider's embeddings f32[SENTENCES, 384] by its name."""
    sentences = (MINILM / "page.txt").read_text(encoding="utf-8").splitlines()[:SENTENCES]
    batches = list(data.batches(data.tokenize(sentences), BATCH))
    weights = data.load_weights()
    for framework, make in EMBEDDERS.items():
        found = {}
        for name, k in providers.items():
            run = make(k, weights)
            found[name] = np.concatenate([run(batch) for batch in batches])
        yield framework, found
