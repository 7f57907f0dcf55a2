"""Losses with their gradients, the memory that they take, and optimizers."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import torch
from goals import goal_here
from pairs import Pair, make_rows
from report import Row
from torch.nn import functional


def measure(k: Any, threads: int) -> list[Row]:
    loss, of_bf16 = _fused_loss(k, torch.float32, 0.6), _fused_loss(k, torch.bfloat16, None)
    return [*make_rows("training", [_loss(k), loss, *_optimizers(k)]), _memory(loss), *make_rows("training", [of_bf16])]


def _loss(k: Any) -> Pair:
    logits, targets = (torch.randn(128, 49152) * 3).requires_grad_(), torch.randint(49152, (128,))
    return Pair(
        "cross-entropy 128 x 49,152, forward + backward",
        lambda: torch.autograd.grad(k.cross_entropy(logits, targets).mean(), logits),
        lambda: torch.autograd.grad(functional.cross_entropy(logits, targets), logits),
        0.4,
    )


def _fused_loss(k: Any, dtype: torch.dtype, goal: float | None) -> Pair:
    x = torch.randn(128, 576).to(dtype).requires_grad_()
    weight = (torch.randn(49152, 576) / 24).to(dtype).requires_grad_()
    targets = torch.randint(49152, (128,))
    return Pair(
        f"cross-entropy with its linear, 576 wide, {str(dtype)[6:]}, forward + backward",
        lambda: torch.autograd.grad(k.fused_linear_cross_entropy(x, weight, targets).mean(), (x, weight)),
        lambda: torch.autograd.grad(functional.cross_entropy(x @ weight.T, targets), (x, weight)),
        goal,
    )


def _optimizers(k: Any) -> list[Pair]:
    params, grads, mean, square = ([torch.rand(1 << 20) for _ in range(4)] for _ in range(4))
    leaves = [each.clone().requires_grad_() for each in params]
    for leaf, grad in zip(leaves, grads, strict=True):
        leaf.grad = grad.clone()
    fused, count = torch.optim.AdamW(leaves, fused=True), iter(range(1, 1 << 30))
    return [
        Pair(
            "AdamW on 4 M numbers",
            lambda: k.adamw(params, grads, mean, square, next(count), 1e-3),
            fused.step,
            1.0,
            "torch fused",
        ),
        Pair(
            "clip_grad_norm of 4 M numbers, none clipped",
            lambda: k.clip_grad_norm(grads, max_norm=1e9),
            lambda: torch.nn.utils.clip_grad_norm_(leaves, 1e9),
        ),
    ]


def _memory(pair: Pair) -> Row:
    ours, theirs = _peak(pair.ours), _peak(pair.theirs)
    return Row(
        "llm training", "the same, memory above that of its results", ours, theirs, "MiB", goal_here(0.2), "torch"
    )


def _peak(work: Any) -> float:
    """How much memory it takes for a time, its results not counted, in MiB."""
    work()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts from what is held now
    held = _status("VmRSS")
    results = work()
    return (_status("VmHWM") - held) / 1024 - sum(each.nbytes for each in results) / 2**20


def _status(name: str) -> int:
    """In KiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))
