"""Modules over the kernels; those that torch.nn has too take its arguments and its state dicts."""

from __future__ import annotations

import torch

from kernpack_kernels.torch import functional


class RMSNorm(torch.nn.Module):
    """Over the last dimension."""

    def __init__(self, size: int, eps: float = 1e-6, device=None, dtype=None) -> None:
        super().__init__()
        self.size, self.eps = size, eps
        self.weight = torch.nn.Parameter(torch.ones(size, device=device, dtype=dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.rms_norm(x, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.size}, eps={self.eps}"


class LayerNorm(torch.nn.Module):
    """Over the last dimension."""

    def __init__(self, size: int, eps: float = 1e-5, bias: bool = True, device=None, dtype=None) -> None:
        super().__init__()
        self.size, self.eps = size, eps
        self.weight = torch.nn.Parameter(torch.ones(size, device=device, dtype=dtype))
        self.bias = torch.nn.Parameter(torch.zeros(size, device=device, dtype=dtype)) if bias else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(x, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.size}, eps={self.eps}, bias={self.bias is not None}"


class GELU(torch.nn.Module):
    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.gelu(x, self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class SwiGLU(torch.nn.Module):
    """silu of the first half of the last dimension times the second half."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate, up = x.chunk(2, -1)
        return functional.swiglu(gate, up)


class GeGLU(torch.nn.Module):
    """gelu of the first half of the last dimension times the second half."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate, up = x.chunk(2, -1)
        return functional.geglu(gate, up, self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class PackedLinear(torch.nn.Module):
    """A linear layer whose weight is ggml blocks: `blocks` [rows, bytes], uint8, of the format Q4_0, Q4_1 or Q8_0. For inference."""

    weight: torch.Tensor
    bias: torch.Tensor | None

    def __init__(self, blocks: torch.Tensor, form: str, bias: torch.Tensor | None = None) -> None:
        super().__init__()
        packs = {"Q4_0": functional.K.pack_q4_0, "Q4_1": functional.K.pack_q4_1, "Q8_0": functional.K.pack_q8_0}
        if form not in packs:
            raise ValueError(f"PackedLinear: form: expected one of {', '.join(packs)}, got {form!r}")
        self.form = form
        self.register_buffer("weight", packs[form](blocks.contiguous()))
        self.register_buffer("bias", bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.packed_linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"{len(self.weight)} rows of {self.form}, bias={self.bias is not None}"
