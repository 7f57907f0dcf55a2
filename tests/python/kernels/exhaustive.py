"""GELU on every f32, a progress line every 2^26 values: python tests/python/kernels/exhaustive.py [none|tanh]. Minutes."""

import sys

import kernpack
import numpy as np
import torch

CHUNK = 1 << 22


def exact(x, kind):
    """In float64, through torch's vectorised functions."""
    x = x.double()
    if kind == "none":
        return x * 0.5 * torch.special.erfc(-x / 2**0.5)
    return x / (1 + torch.exp(-2 * (2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))


def main(kind):
    k = kernpack.load("kernpack_kernels")
    ulps = absolute = 0.0
    for start in range(0, 1 << 32, CHUNK):
        bits = np.arange(start, start + CHUNK, dtype=np.uint64).astype(np.uint32)
        x = torch.from_numpy(bits.view(np.float32))
        x = x[x.abs() < 1e30].contiguous()
        if x.numel():
            expected = exact(x, kind)
            error = (k.gelu(x, approximate=kind).double() - expected).abs()
            ulp = torch.from_numpy(np.spacing(expected.abs().float().numpy())).double()
            near = x >= -1
            ulps = max(ulps, (error / ulp)[near].max().item() if near.any() else 0.0)
            absolute = max(absolute, error[~near].max().item() if not near.all() else 0.0)
        if start % (1 << 26) == 0:
            print(f"{start / 2**32:6.1%}  x >= -1: {ulps:.2f} ulp, below: {absolute:.1e}", flush=True)
    print(f"gelu {kind}: {ulps:.2f} ulp from -1 up, {absolute:.2e} below")
    return 0 if ulps <= 8 and absolute < 1.2e-7 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "none"))
