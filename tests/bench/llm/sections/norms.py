"""Norms, gates and rope, beside torch eager and torch.compile."""

from __future__ import annotations

from typing import Any

import torch
from pairs import Pair, Work, make_rows
from report import Row
from torch.nn import functional


def measure(k: Any, threads: int) -> list[Row]:
    return make_rows("norms", [pair for m in (1, 512) for pair in _of(k, m)])


def _of(k: Any, m: int) -> list[Pair]:
    ones, wide = torch.ones(576), (576,)
    x, r, both = torch.randn(m, 576), torch.randn(m, 576), torch.randn(m, 3072)
    heads, angles = torch.randn(m, 9, 64), torch.randn(m, 32)

    def turned(x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
        a = angles[:, None]
        return torch.cat([x[..., :32] * a - x[..., 32:] * a, x[..., 32:] * a + x[..., :32] * a], -1)

    def added(x: torch.Tensor, r: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        total = x + r
        return functional.rms_norm(total, wide, ones), total

    table: list[tuple[str, Work, Any, tuple[torch.Tensor, ...]]] = [
        ("rms_norm", lambda: k.rms_norm(x, ones), lambda x: functional.rms_norm(x, wide, ones), (x,)),
        ("layer_norm", lambda: k.layer_norm(x, ones, r[0]), lambda x, b: functional.layer_norm(x, wide, ones, b), (x, r[0])),
        ("add_rms_norm", lambda: k.add_rms_norm(x, r, ones), added, (x, r)),
        ("swiglu", lambda: k.swiglu(both[:, :1536], both[:, 1536:]), lambda b: functional.silu(b[:, :1536]) * b[:, 1536:], (both,)),
        ("rope", lambda: k.rope(heads, angles, angles), turned, (heads, angles)),
    ]  # fmt: skip
    pairs = []
    for name, ours, theirs, given in table:
        compiled = torch.compile(theirs)
        pairs.append(Pair(f"{name}, {m} rows", ours, lambda f=theirs, a=given: f(*a), 0.3, "torch eager"))
        pairs.append(Pair(f"{name}, {m} rows", ours, lambda f=compiled, a=given: f(*a), 0.9, "torch.compile"))
    return pairs
