"""Code that the generator of kind llvm makes, on two threads: against torch's CPU ops, and its size when exported."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from harness import Snippet
from kit import Kit
from report import Row, timed_row
from torch.nn import functional

SHAPES = ((1024, 1024), (512, 384), (1000, 1001))
# Of time, for the whole of the processor and for code of the level that most have.
TARGETS = {"llvm": 0.9, "llvm -mcpu=x86-64-v3": 1.4}
CHAIN_GOAL = 0.6
LINKED_BYTES = 40 * 1024

SOFTMAX = """module "codegen_bench"
func softmax(x: f32[N, D]) -> (out: f32[N, D]) {
  parallel i in 0..N {
    let m = reduce(max, j in 0..D, any 64, x[i, j])
    vectorized(16, masked) k in 0..D { out[i, k] = exp(x[i, k] - m) }
    let r = 1.0 / reduce(+, j in 0..D, any 64, out[i, j])
    vectorized(16, masked) k in 0..D { out[i, k] = out[i, k] * r }
  }
}
"""
MODULE = (
    SOFTMAX
    + """
func layer_norm(x: f32[N, D], weight: f32[D], bias: f32[D]) -> (out: f32[N, D]) {
  parallel i in 0..N {
    let mean = reduce(+, j in 0..D, any 64, x[i, j]) / f32(D)
    let variance = reduce(+, j in 0..D, any 64, (x[i, j] - mean) * (x[i, j] - mean)) / f32(D)
    let scale = 1.0 / sqrt(variance + 1e-5)
    vectorized(16, masked) k in 0..D { out[i, k] = (x[i, k] - mean) * scale * weight[k] + bias[k] }
  }
}
func gelu(x: f32[N, D]) -> (out: f32[N, D]) {
  parallel i in 0..N {
    vectorized(16, masked) k in 0..D { out[i, k] = x[i, k] * 0.5 * (1.0 + erf(x[i, k] * 0.70710678)) }
  }
}
func chain(x: f32[N, D]) -> (out: f32[N, D]) {
  parallel i in 0..N {
    vectorized(16, masked) k in 0..D { out[i, k] = x[i, k] * sigmoid(x[i, k]) * 2.0 + 1.0 }
  }
}
"""
)


def measure(kit: Kit) -> list[Row]:
    import kernpack_compiler as kc
    from kernpack_compiler import ir

    module = ir.IRModule.parse(MODULE)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        rows = [
            _row(kit, f"{op} {shape[0]}x{shape[1]}, {target}", pair, _goal(op, target))
            for target in TARGETS
            for shape in SHAPES
            for op, pair in pairs(kc.build(module, target), torch.randn(shape)).items()
        ]
    finally:
        torch.set_num_threads(threads)
    return [*rows, *_costs(kc, ir)]


def _goal(op: str, target: str) -> float | None:
    """None for the chain on an older level, which nothing is asked of."""
    return TARGETS[target] if op != "chain" else CHAIN_GOAL if target == "llvm" else None


def pairs(k: Any, x: torch.Tensor) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    """For each op ours and torch's, on the same tensors."""
    width = x.shape[-1:]
    weight, bias = torch.randn(width), torch.randn(width)
    return {
        "softmax": (lambda: k.softmax(x), lambda: torch.softmax(x, -1)),
        "layer_norm": (lambda: k.layer_norm(x, weight, bias), lambda: functional.layer_norm(x, width, weight, bias)),
        "gelu": (lambda: k.gelu(x), lambda: functional.gelu(x)),
        "chain": (lambda: k.chain(x), lambda: x * torch.sigmoid(x) * 2 + 1),
    }


def _row(kit: Kit, name: str, pair: tuple[Callable[[], object], Callable[[], object]], goal: float | None) -> Row:
    timings = kit.compare({side: Snippet("f()", {"f": f}) for side, f in zip(("ours", "theirs"), pair, strict=True)})
    return timed_row("codegen", name, timings, goal, peer="torch")


def _costs(kc: Any, ir: Any) -> list[Row]:
    """The exported module of softmax alone, for three CPU levels and for one."""
    softmax = ir.IRModule.parse(SOFTMAX)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for target, what in (("llvm -mcpu=x86-64-v3", "one CPU level"), ("llvm", "three CPU levels")):
            library = Path(kc.build(softmax, target).export_library(str(Path(folder) / "softmax.so")))
            size = library.stat().st_size / 1024
            rows.append(Row("codegen", f"exported softmax, {what}", size, None, unit="KiB", goal=LINKED_BYTES / 1024))
    return rows
