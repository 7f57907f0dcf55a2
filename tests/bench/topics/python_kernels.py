"""Kernels in Python, written the obvious way, on one thread, against torch's ops: the table of docs/python_kernels.md.

Those without a schedule of their own are scheduled by default. Seven are the kernels of examples/ship_python.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import cache, partial
from types import ModuleType
from typing import Any

import kernpack
import kernpack_compiler as kc
import machine
import torch
from harness import interleave_runs
from kernpack_compiler.lang import bf16, f32, i8, i32
from kit import Kit
from report import Row, timed_row
from support.online_softmax import causal
from torch.nn import functional

import build

Pair = tuple[Callable[[], Any], Callable[[], Any], float]  # ours, torch's, the goal


@kc.kernel
def conv_taps(x: f32["B", "H", "W", "C"], w: f32[3, 3, "C", "F"]) -> f32["B", "H - 2", "W - 2", "F"]:
    for b in range(B):
        for i in range(H - 2):
            for j in range(W - 2):
                for f in range(F):
                    out[b, i, j, f] = 0.0
                for r in range(3):
                    for s in range(3):
                        for c in range(C):
                            for f in range(F):
                                out[b, i, j, f] += x[b, i + r, j + s, c] * w[r, s, c, f]


@kc.kernel
def conv_sum(x: f32["B", "H", "W", "C"], w: f32[3, 3, "C", "F"]) -> f32["B", "H - 2", "W - 2", "F"]:
    for b in range(B):
        for i in range(H - 2):
            for j in range(W - 2):
                for f in range(F):
                    out[b, i, j, f] = sum(
                        x[b, i + r, j + s, c] * w[r, s, c, f] for r in range(3) for s in range(3) for c in range(C)
                    )


@kc.kernel
def int8_linear(a: i8["M", "K"], b: i8["N", "K"], a_scale: f32["M"], b_scale: f32["N"]) -> f32["M", "N"]:
    for i in range(M):
        for j in range(N):
            total = sum(i32(a[i, k]) * i32(b[j, k]) for k in range(K))
            out[i, j] = f32(total) * a_scale[i] * b_scale[j]


@kc.kernel
def bf16_linear(a: bf16["M", "K"], b: bf16["N", "K"]) -> bf16["M", "N"]:
    for i in range(M):
        for j in range(N):
            out[i, j] = bf16(sum(f32(a[i, k]) * f32(b[j, k]) for k in range(K)))


@kc.kernel
def layer_norm_backward(
    d_out: f32["N", "D"], x: f32["N", "D"], weight: f32["D"], mean: f32["N"], rstd: f32["N"]
) -> {"d_x": f32["N", "D"], "d_weight": f32["D"], "d_bias": f32["D"]}:
    for i in range(N):
        s = sum(d_out[i, j] * weight[j] for j in range(D)) / f32(D)
        t = sum(d_out[i, j] * weight[j] * (x[i, j] - mean[i]) * rstd[i] for j in range(D)) / f32(D)
        for j in range(D):
            d_x[i, j] = rstd[i] * (d_out[i, j] * weight[j] - s - (x[i, j] - mean[i]) * rstd[i] * t)
    for j in range(D):
        d_weight[j] = sum(d_out[i, j] * (x[i, j] - mean[i]) * rstd[i] for i in range(N))
        d_bias[j] = sum(d_out[i, j] for i in range(N))


def measure(kit: Kit) -> list[Row]:
    threads = torch.get_num_threads(), kernpack.get_num_threads()
    torch.set_num_threads(1)
    kernpack.set_num_threads(1)
    try:
        return [_row(kit, name, *pair()) for name, pair in PAIRS.items()]
    finally:
        torch.set_num_threads(threads[0])
        kernpack.set_num_threads(threads[1])


def _row(kit: Kit, name: str, ours: Callable[[], Any], theirs: Callable[[], Any], goal: float) -> Row:
    for mine, expected in zip(_all(ours()), _all(theirs()), strict=True):
        if not torch.allclose(mine.float(), expected.float(), rtol=1e-2, atol=1e-2):
            raise RuntimeError(f"{name} is wrong by {(mine.float() - expected.float()).abs().max()}")
    timings = interleave_runs({"ours": ours, "theirs": theirs}, kit.repetitions)
    sets = " ".join(machine.instruction_sets())
    return timed_row("python_kernels", name, timings, goal, peer="torch", note=f"one thread, {sets}")


def _all(result: Any) -> tuple[torch.Tensor, ...]:
    return result if isinstance(result, tuple) else (result,)


def _attention() -> Pair:
    q, k, v = (torch.randn(8, 512, 64) for _ in range(3))
    heads = [t[None] for t in (q, k, v)]  # torch's fast attention is that of four dimensions
    theirs = lambda: functional.scaled_dot_product_attention(*heads, is_causal=True)[0]  # noqa: E731
    return partial(causal, q, k, v), theirs, 2.0


def _conv(kernel: Any) -> Pair:
    x, w = torch.randn(2, 34, 34, 64), torch.randn(3, 3, 64, 64) / 24
    # As torch likes it best: its own layout of the weight, and a view of x.
    nchw, weight = x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    return partial(kernel, x, w), lambda: functional.conv2d(nchw, weight).permute(0, 2, 3, 1), 1.5


def _int8() -> Pair:
    a, b = (torch.randint(-127, 128, (256, n), dtype=torch.int8) for n in (512, 512))
    b = torch.randint(-127, 128, (512, 512), dtype=torch.int8)
    a_scale, b_scale = torch.rand(256) / 500, torch.rand(512) / 500
    theirs = lambda: torch._int_mm(a, b.t()).float() * a_scale[:, None] * b_scale  # noqa: E731
    return partial(int8_linear, a, b, a_scale, b_scale), theirs, 1.5


def _bf16() -> Pair:
    a, b = torch.randn(256, 512).bfloat16(), torch.randn(512, 512).bfloat16()
    return partial(bf16_linear, a, b), partial(functional.linear, a, b), 1.3


def _layer_norm_backward() -> Pair:
    d_out, x, weight, bias = torch.randn(1024, 768), torch.randn(1024, 768), torch.randn(768), torch.randn(768)
    _, mean, rstd = torch.native_layer_norm(x, (768,), weight, bias, 1e-5)
    theirs = partial(
        torch.ops.aten.native_layer_norm_backward, d_out, x, (768,), mean, rstd, weight, bias, (True, True, True)
    )
    return partial(layer_norm_backward, d_out, x, weight, mean.view(-1), rstd.view(-1)), theirs, 1.0


@cache
def _shipped() -> ModuleType:
    path = build.ROOT / "examples" / "ship_python" / "ten_kernels.py"
    spec = importlib.util.spec_from_file_location("ten_kernels", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _softmax() -> Pair:
    x = torch.randn(1024, 1024)
    return partial(_shipped().softmax, x), partial(torch.softmax, x, -1), 1.5


def _stencil() -> Pair:
    x, cross = torch.randn(1024, 1024), torch.tensor([[[[0.0, -1, 0], [-1, 4, -1], [0, -1, 0]]]])
    theirs = lambda: functional.gelu(functional.conv2d(x[None, None], cross, padding=1)[0, 0])  # noqa: E731
    return partial(_shipped().stencil, x), theirs, 1.0


def _topk() -> Pair:
    x = torch.randn(1024, 1024)
    return lambda: _shipped().topk(x)[0], lambda: torch.topk(x, 4).values, 1.0


def _cumsum() -> Pair:
    x = torch.randn(1024, 1024)
    return partial(_shipped().cumsum, x), partial(torch.cumsum, x, 1), 1.5  # torch's sums don't fade


def _segment_sum() -> Pair:
    x, segment = torch.randn(8192, 64), torch.arange(8192) % 100
    ours, theirs = torch.zeros(2, 100, 64).unbind()

    def add() -> torch.Tensor:
        _shipped().segment_sum(x, segment, ours)
        return ours

    return add, partial(theirs.index_add_, 0, segment, x), 1.0


def _rope() -> Pair:
    x, angle = torch.randn(512, 8, 64), torch.randn(512, 32)
    cosine, sine = angle.cos(), angle.sin()

    def theirs() -> torch.Tensor:
        (a, b), c, s = x.chunk(2, -1), cosine[:, None], sine[:, None]
        return torch.cat((a * c - b * s, a * s + b * c), -1)

    return partial(_shipped().rope, x, cosine, sine), theirs, 1.0


def _histogram() -> Pair:
    x = torch.randint(0, 256, (1 << 20,), dtype=torch.uint8)
    theirs = lambda: torch.bincount(torch.bitwise_right_shift(x, 4), minlength=16)  # noqa: E731
    return partial(_shipped().histogram, x), theirs, 1.0


PAIRS = {
    "attention, causal, 8 x 512 x 64": _attention,
    "conv2d NHWC, loops over taps, 2 x 32 x 32 x 64, 3 x 3 x 64": partial(_conv, conv_taps),
    "conv2d NHWC, one sum over three axes": partial(_conv, conv_sum),
    "int8 product with scales, 256 x 512 x 512": _int8,
    "bf16 product, 256 x 512 x 512": _bf16,
    "layer norm backward, 1024 x 768": _layer_norm_backward,
    "softmax, 1024 x 1024": _softmax,
    "stencil with GELU, 1024 x 1024": _stencil,
    "largest four of each row, 1024 x 1024": _topk,
    "running sums, 1024 x 1024": _cumsum,
    "sums of 100 segments, 8192 x 64": _segment_sum,
    "rotary embedding, 512 x 8 x 64": _rope,
    "histogram of 1,048,576 bytes": _histogram,
}
