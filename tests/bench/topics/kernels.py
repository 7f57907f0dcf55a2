"""The first-party kernels against torch's CPU ops, two threads, alone and alternating with a matrix product of torch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from harness import Snippet
from kit import Kit
from report import Row, timed_row
from torch.nn import functional

SHAPES = ((1, 384), (512, 384), (1024, 1024))
GOAL = 1.0


def _pairs(k: Any, x: torch.Tensor) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    """For each op ours and torch's, on the same tensors."""
    width = x.shape[-1:]
    weight, bias = torch.randn(width).to(x.dtype), torch.randn(width).to(x.dtype)
    return {
        "layer_norm": (lambda: k.layer_norm(x, weight, bias), lambda: functional.layer_norm(x, width, weight, bias)),
        "rms_norm": (lambda: k.rms_norm(x, weight), lambda: functional.rms_norm(x, width, weight, 1e-6)),
        "softmax": (lambda: k.softmax(x), lambda: torch.softmax(x, -1)),
        "gelu": (lambda: k.gelu(x), lambda: functional.gelu(x)),
        "gelu tanh": (lambda: k.gelu(x, approximate="tanh"), lambda: functional.gelu(x, approximate="tanh")),
    }


def measure(kit: Kit) -> list[Row]:
    import kernpack

    k = kernpack.load("kernpack_kernels")
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        return [
            _row(kit, f"{op} {dtype} {shape[0]}x{shape[1]}{suffix}", pair, product)
            for dtype, torch_dtype in (("f32", torch.float32), ("bf16", torch.bfloat16))
            for shape in SHAPES
            for suffix, product in (("", None), (", after a matmul", torch.randn(256, 384)))
            for op, pair in _pairs(k, torch.randn(shape).to(torch_dtype)).items()
        ]
    finally:
        torch.set_num_threads(threads)


def _row(
    kit: Kit, name: str, pair: tuple[Callable[[], object], Callable[[], object]], product: torch.Tensor | None
) -> Row:
    ours, theirs = pair
    statement = "f()" if product is None else "m @ m.T; f()"
    timings = kit.compare(
        {side: Snippet(statement, {"f": f, "m": product}) for side, f in (("ours", ours), ("theirs", theirs))}
    )
    return timed_row("kernels", name, timings, GOAL, peer="torch")
