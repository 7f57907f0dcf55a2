"""Calls the installed kernels from NumPy, PyTorch and JAX, and compares them with functions of torch."""

import sys

import jax
import kernpack
import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - its usual name

MOST_APART = 1e-4


def cases(k):
    """For each kernel: a result, and what torch computes."""
    torch.manual_seed(0)
    x = torch.randn(16, 40)
    yield "softmax", k.softmax(x), torch.softmax(x, -1)
    cross = torch.tensor([[[[0.0, -1, 0], [-1, 4, -1], [0, -1, 0]]]])
    yield "stencil", k.stencil(x), F.gelu(F.conv2d(x[None, None], cross, padding=1)[0, 0])
    q, keys, values = torch.randn(3, 2, 9, 8).unbind()
    yield (
        "attention",
        k.attention(q, keys, values, causal=1),
        F.scaled_dot_product_attention(q, keys, values, is_causal=True),
    )
    yield "topk", k.topk(x)[0], torch.topk(x, 4).values
    image, weight = torch.randn(2, 6, 7, 3), torch.randn(3, 3, 3, 4)
    channels = F.conv2d(image.permute(0, 3, 1, 2), weight.permute(3, 2, 0, 1), padding=1)
    yield "conv2d", k.conv2d(image, weight), channels.permute(0, 2, 3, 1)
    yield "cumsum", k.cumsum(x), torch.cumsum(x, 1)
    segment, sums = torch.arange(16) % 3, torch.zeros(3, 40)
    k.segment_sum(x, segment, sums)
    yield "segment_sum", sums, torch.zeros(3, 40).index_add_(0, segment, x)
    pairs, angle = torch.randn(5, 2, 8), torch.randn(5, 4)
    halves = torch.view_as_complex(torch.stack(pairs.chunk(2, -1), -1)) * torch.polar(torch.ones(5, 4), angle)[:, None]
    yield "rope", k.rope(pairs, angle.cos(), angle.sin()), torch.cat((halves.real, halves.imag), -1)
    a, b = torch.randint(-128, 128, (2, 4, 32), dtype=torch.int8).unbind()
    yield "int8_product", k.int8_product(a, b, torch.ones(4)), (a.float() @ b.float().T).bfloat16()
    data = torch.randint(0, 256, (1000,), dtype=torch.uint8)
    yield "histogram", k.histogram(data), torch.bincount(data.long() // 16, minlength=16)


def main():
    k = kernpack.load("shipped_kernels")
    most = 0.0
    for name, found, expected in cases(k):
        apart = float((found.double() - expected.double()).abs().max())
        most = max(most, apart)
        print(f"{name:<13} {apart:.1e} from torch")
    x = np.random.default_rng(0).standard_normal((4, 7), dtype=np.float32)
    gradient = jax.jit(jax.grad(lambda x: (k.softmax(x) ** 2).sum()))(x)
    t = torch.from_numpy(x).requires_grad_()
    (k.softmax(t) ** 2).sum().backward()
    apart = float(np.abs(gradient - t.grad.numpy()).max())
    print(f"softmax's gradient in JAX is {apart:.1e} from that in torch")
    assert "kernpack_compiler" not in sys.modules
    return 0 if max(most, apart) <= MOST_APART else 1


if __name__ == "__main__":
    sys.exit(main())
