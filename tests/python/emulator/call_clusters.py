"""Calls ops of clusters.cu on an emulated device: `call_clusters.py NAME`; a line for each call, "right" or its error."""

import sys
from pathlib import Path

import kernpack
import numpy as np

K = kernpack.load(Path(__file__).with_name("clusters.cu"), extra_cuda_cflags=["-arch=compute_90"])
DEVICE = kernpack.device("cuda", 0)
X = np.random.default_rng(0).integers(0, 256, 1000).astype(np.int32)


def called(op: str, x: np.ndarray, expected: np.ndarray, **attributes: int) -> str:
    try:
        out = np.from_dlpack(K.functions[op](kernpack.from_dlpack(x).to(DEVICE), **attributes).to("cpu"))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    np.testing.assert_array_equal(out[: expected.size], expected)
    return "right"


def next_blocks(blocks: int, cluster: int) -> np.ndarray:
    """100 * the rank of the block that each reads, + its number."""
    block = np.arange(blocks)
    rank = (block + 1) % cluster
    return 100 * rank + block // cluster * cluster + rank


def turned(x: np.ndarray) -> np.ndarray:
    for _ in range(3):
        x = np.roll(x, -33) + 1
    return x


CALLS = {
    "right": [
        ("counts", X, np.bincount(X, minlength=256), {}),
        ("next", X[:17], next_blocks(16, 8), {"blocks": 8}),
        ("next", X[:7], next_blocks(6, 2), {"blocks": 2}),
        ("next", X[:6], next_blocks(5, 1), {"blocks": 1}),
        ("turned", X[:250], turned(X[:250]), {"blocks": 8}),
    ],
    "refused": [
        ("next", X[:17], X, {"blocks": 16}),
        ("next", X[:17], X, {"blocks": 3}),
        ("turned", X[:64], X, {"blocks": 132 * 32 + 1}),
    ],
    "not_together": [("not_together", X[:64], X, {})],
    "next_ends": [("next_ends", X[:5], X, {"blocks": 4})],
}
for op, x, expected, attributes in CALLS[sys.argv[1]]:
    print(called(op, x, expected, **attributes).replace("\n", " "))
