"""Products with weights of 4 bits and dense ones, for one row and many."""

from __future__ import annotations

from typing import Any

import gguf
import torch
from pairs import Pair, make_rows
from report import Row


def measure(k: Any, threads: int) -> list[Row]:
    return make_rows("linear", [*_int4(k), *_dense(k)])


def _int4(k: Any) -> list[Pair]:
    n, columns = 1536, 576
    w = torch.randn(n, columns)
    packed = torch.from_numpy(k.pack_q4_1(gguf.quants.quantize(w.numpy(), gguf.GGMLQuantizationType.Q4_1)))
    int4 = torch.ops.aten._convert_weight_to_int4pack_for_cpu(torch.randint(0, 16, (n, columns), dtype=torch.int32), 1)
    scales, wide = torch.rand(columns // 32, n, 2, dtype=torch.bfloat16), w.bfloat16()
    pairs = []
    for m, goal in ((1, 0.8), (8, None), (256, 0.12)):
        x, half = torch.randn(m, columns), torch.randn(m, columns, dtype=torch.bfloat16)
        ours = lambda x=x: k.packed_linear(x, packed)  # noqa: E731
        name = f"int4 linear {m} x {n} x {columns}"
        theirs = lambda half=half: torch.ops.aten._weight_int4pack_mm_for_cpu(half, int4, 32, scales)  # noqa: E731
        pairs.append(Pair(name, ours, theirs, goal, "torch int4pack"))
        pairs.append(Pair(name, ours, lambda half=half: half @ wide.T, peer="torch bf16"))
    return pairs


def _dense(k: Any) -> list[Pair]:
    pairs = []
    for dtype in (torch.bfloat16, torch.float32):
        w = torch.randn(1536, 1536).to(dtype)
        packed = k.pack_linear(w)
        for m in (1, 256):
            x = torch.randn(m, 1536).to(dtype)
            name = f"{str(dtype)[6:]} linear {m} x 1536 x 1536"
            goal = 1.0 if m > 1 and dtype == torch.bfloat16 else None
            theirs = lambda x=x, w=w: x @ w.T  # noqa: E731
            pairs.append(Pair(f"{name}, packed", lambda x=x, w=packed: k.packed_linear(x, w), theirs, goal))
            pairs.append(Pair(name, lambda x=x, w=w: k.linear(x, w), theirs))
    return pairs
