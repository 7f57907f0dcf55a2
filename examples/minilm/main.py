"""Embeds a page of English sentences with MiniLM in three frameworks, every norm, softmax, GELU, look-up and pooling coming from one
kernel wheel, and compares each with a float64 reference. Arguments: the frameworks, without any all of them."""

import sys
import time
from pathlib import Path

import data
import kernpack
import numpy as np
import reference
from frameworks import EMBEDDERS
from tqdm import tqdm

BATCH = 8
QUERY = "How do plants turn light into food?"
LEAST_COSINE = 0.99999


def run(name, embedder, batches, count):
    """Embeddings of the page, and the seconds they took. The first batch runs once before: it compiles under jit."""
    embedder(batches[0])
    start = time.perf_counter()
    rows = [embedder(batch) for batch in tqdm(batches, desc=f"{name:>9}", unit="batch")]
    return np.concatenate(rows)[:count], time.perf_counter() - start


def main():
    names = sys.argv[1:] or list(EMBEDDERS)
    unknown = [name for name in names if name not in EMBEDDERS]
    if unknown:
        sys.exit(f"expected frameworks among {', '.join(map(repr, EMBEDDERS))}, got {unknown[0]!r}")
    sentences = Path(__file__).with_name("page.txt").read_text(encoding="utf-8").splitlines()
    token_ids = data.tokenize([*sentences, QUERY])
    batches = list(data.batches(token_ids, BATCH))
    weights = data.load_weights()
    expected = reference.embed(weights, token_ids, lambda items: tqdm(items, desc="reference", unit="sentence"))

    k = kernpack.load("kernpack_kernels")
    print(f"{k.name} {k.version} from {k.path}")
    lines, ok = [], True
    for name in names:
        found, seconds = run(name, EMBEDDERS[name](k, weights), batches, len(token_ids))
        error = np.abs(found - expected).max()
        cosine = ((found * expected).sum(-1) / np.linalg.norm(found.astype(np.float64), axis=-1)).min()
        nearest = sentences[np.argmax(found[:-1] @ found[-1])]
        ok = ok and bool(cosine >= LEAST_COSINE)  # a NaN is not
        lines.append(f"{name:<9} {error:>14.1e} {cosine:>12.8f} {seconds * 1e3:>10.0f} ms  {nearest}")

    print(f"\n{len(sentences)} sentences; nearest to {QUERY!r}:")
    print(f"{'framework':<9} {'largest error':>14} {'cosine':>12} {'page':>13}  nearest sentence")
    print("\n".join(lines))
    if not ok:
        print(f"an embedding is further than cosine {LEAST_COSINE} from the reference", file=sys.stderr)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
