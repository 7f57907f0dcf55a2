"""Layers beside attention and products: softmax over an inner dimension, bags, scattered sums, causal convolution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from kernpack_kernels.torch import functional as ours
from pairs import Pair, make_rows
from report import Row
from torch.nn import functional as theirs


def measure(k: Any, threads: int) -> list[Row]:
    return make_rows("layers", [pair for dtype in (torch.float32, torch.bfloat16) for pair in _pairs(k, dtype)])


def _pairs(k: Any, dtype: torch.dtype) -> list[Pair]:
    scores, image = torch.randn(8, 1000, 64, dtype=dtype), torch.randn(8, 21, 4096, dtype=dtype)
    table = torch.randn(50000, 256, dtype=dtype, requires_grad=True)
    ids, bags = torch.randint(50000, (20000,)), torch.arange(0, 20000, 20)
    rows, places = torch.randn(20000, 256, dtype=dtype), torch.randint(1000, (20000,))
    x = torch.randn(1, 512, 1536, dtype=dtype, requires_grad=True)
    filters, bias = torch.randn(1536, 4, dtype=dtype, requires_grad=True), torch.randn(1536, dtype=dtype)

    def convolution(f: Any) -> Callable[[], torch.Tensor]:
        return lambda: f(x.transpose(1, 2), filters, bias)

    def mine(x: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return ours.causal_conv1d(x, filters, bias, activation="silu")

    def plain(x: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        rows = theirs.conv1d(x, filters[:, None], bias, groups=len(filters), padding=filters.shape[1] - 1)
        return theirs.silu(rows[..., : x.shape[-1]])

    def bag(f: Any, mode: str) -> Callable[[], torch.Tensor]:
        return lambda: f.embedding_bag(ids, table, bags, mode=mode)

    def both(forward: Callable[[], torch.Tensor]) -> Callable[[], object]:
        return lambda: forward().sum().backward()

    def without(forward: Callable[[], torch.Tensor]) -> Callable[[], object]:
        return torch.no_grad()(forward)

    named: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
        ("softmax over dim 1 of 8 x 1,000 x 64", lambda: ours.softmax(scores, 1), lambda: torch.softmax(scores, 1)),
        ("softmax over dim 1 of 8 x 21 x 4,096", lambda: ours.softmax(image, 1), lambda: torch.softmax(image, 1)),
        *(
            (f"embedding_bag {mode}, 1,000 bags of 20", without(bag(ours, mode)), without(bag(theirs, mode)))
            for mode in ("sum", "mean", "max")
        ),
        ("embedding_bag sum, forward + backward", both(bag(ours, "sum")), both(bag(theirs, "sum"))),
        (
            "embedding of 20,000, forward + backward",
            both(lambda: ours.embedding(ids, table, 0)),
            both(lambda: theirs.embedding(ids, table, 0)),
        ),
        (
            "20,000 rows added to 1,000",
            lambda: k.scatter_sum(rows, places, rows=1000),
            lambda: torch.zeros(1000, 256, dtype=dtype).index_add_(0, places, rows),
        ),
        ("causal convolution, 512 x 1,536, 4 taps, silu", without(convolution(mine)), without(convolution(plain))),
        ("the same, forward + backward", both(convolution(mine)), both(convolution(plain))),
    ]
    return [Pair(f"{name}, {str(dtype)[6:]}", one, other) for name, one, other in named]
