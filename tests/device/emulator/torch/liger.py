"""Operators of Liger, kernels in Triton for torch, forward and backward on the emulated device, against torch on the CPU.
Prints the seconds that processors computed for each, once Triton has compiled its kernels."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from liger_kernel.ops import cross_entropy, geglu, layer_norm, rope, swiglu
from liger_kernel.ops import rms_norm as liger_rms_norm
from torch.nn import functional as f

ROWS, WIDTH = 8, 64


def _tensors(count: int, shape: tuple[int, ...]) -> list[torch.Tensor]:
    return [torch.randn(*shape, generator=torch.Generator().manual_seed(i)) for i in range(count)]


def check(
    name: str, ours: Callable[..., torch.Tensor], expected: Callable[..., torch.Tensor], inputs: list[torch.Tensor]
) -> None:
    """The value, and the gradient of its sum with weights, for each input."""

    def results(function: Callable[..., torch.Tensor], device: str) -> list[torch.Tensor]:
        here = [x.detach().clone().to(device).requires_grad_() for x in inputs]
        out = function(*here)
        weights = torch.randn(out.shape, generator=torch.Generator().manual_seed(9)).to(device)
        gradients = torch.autograd.grad((out * weights).sum(), here)
        return [out.detach().cpu(), *(each.cpu() for each in gradients)]

    pairs = zip(results(expected, "cpu"), results(ours, "cuda"), strict=True)
    error = max(float((a - b).detach().abs().max()) for a, b in pairs)
    assert error < 1e-4, (name, error)
    begin = time.process_time()
    results(ours, "cuda")
    print(f"{name}: right within {error:.1e}, {time.process_time() - begin:.6f} s", flush=True)


def main() -> None:
    rows = (ROWS, WIDTH)
    x, gate = _tensors(2, rows)
    weight, bias = _tensors(2, (WIDTH,))
    check("swiglu", swiglu.LigerSiLUMulFunction.apply, lambda a, b: f.silu(a) * b, [x, gate])
    check("geglu", geglu.LigerGELUMulFunction.apply, lambda a, b: f.gelu(a, approximate="tanh") * b, [x, gate])
    check(
        "rms_norm",
        lambda a, w: liger_rms_norm.LigerRMSNormFunction.apply(a, w, 1e-6, 0.0, "llama", False),
        lambda a, w: f.rms_norm(a, (WIDTH,), w, 1e-6),
        [x, weight],
    )
    check(
        "layer_norm",
        lambda a, w, b: layer_norm.LigerLayerNormFunction.apply(a, w, b, 1e-6),
        lambda a, w, b: f.layer_norm(a, (WIDTH,), w, b, 1e-6),
        [x, weight, bias],
    )
    target = torch.arange(ROWS) * 7 % WIDTH
    check(
        "cross_entropy",
        lambda a: cross_entropy.LigerCrossEntropyFunction.apply(a, target.to(a.device), None, -100)[0],
        lambda a: f.cross_entropy(a, target),
        [x],
    )

    def rotated(q: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        half = torch.cat((-q[..., q.shape[-1] // 2 :], q[..., : q.shape[-1] // 2]), -1)
        return q * cos + half * sin

    (q,) = _tensors(1, (1, 2, ROWS, 16))
    angle = (torch.arange(ROWS)[:, None] / 10000 ** (torch.arange(8) / 8)).repeat(1, 2)[None]
    cos, sin = angle.cos(), angle.sin()
    check(
        "rope",
        lambda a: rope.LigerRopeFunction.apply(a, a.detach().clone(), cos.to(a.device), sin.to(a.device))[0],
        lambda a: rotated(a, cos, sin),
        [q],
    )


if __name__ == "__main__":
    main()
