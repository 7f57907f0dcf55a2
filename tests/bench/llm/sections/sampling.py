"""The next token out of 49,152 logits."""

from __future__ import annotations

from typing import Any

import torch
from pairs import Pair, make_rows
from report import Row


def measure(k: Any, threads: int) -> list[Row]:
    logits = torch.randn(49152) * 3

    def theirs() -> torch.Tensor:
        """top-k, then top-p, as transformers' processors do it."""
        values, ids = torch.topk(logits, 40)
        p = torch.softmax(values, 0)
        p = torch.where(p.cumsum(0) - p < 0.9, p, 0.0)
        return ids[torch.multinomial(p, 1)]

    return make_rows(
        "sampling",
        [
            Pair("top-40, top-p of 49,152", lambda: k.sample(logits, seed=1, top_k=40, top_p=0.9), theirs, 0.08),
            Pair("argmax of 49,152", lambda: k.argmax(logits), lambda: torch.argmax(logits)),
        ],
    )
