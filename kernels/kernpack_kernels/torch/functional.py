"""Functions with PyTorch's names and layouts over the kernels. Tensors that a kernel would refuse as they lie are copied first."""

from __future__ import annotations

import kernpack
import torch

K = kernpack.load("kernpack_kernels")


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    return K.rms_norm(x.contiguous(), weight, eps=eps)


def layer_norm(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, eps: float = 1e-5
) -> torch.Tensor:
    return K.layer_norm(x.contiguous(), weight, bias, eps=eps)


def gelu(x: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    return K.gelu(x.contiguous(), approximate=approximate)


def swiglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """silu(gate) * up. The halves that `chunk` returns aren't copied."""
    return K.swiglu(gate, up)


def rotate(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, heads_dim: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rotary embedding of q and k [B, H, S, D], or [B, S, H, D] with `heads_dim=2`.

    cos and sin are [B or 1, S, D], whose halves are the same, as Hugging Face's models make them.
    """
    half = cos.shape[-1] // 2
    cos, sin = cos[..., :half].float().contiguous(), sin[..., :half].float().contiguous()

    def turned(x: torch.Tensor) -> torch.Tensor:
        if heads_dim == 2:
            return K.rope(x, cos, sin)
        return K.rope(x.transpose(1, 2), cos, sin).transpose(1, 2)

    return turned(q), turned(k)


def attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    is_causal: bool = False,
    scale: float | None = None,
    soft_cap: float = 0.0,
) -> torch.Tensor:
    """Like scaled_dot_product_attention without a mask: query [B, H, S, D]; key and value [B, G, L, D], H a multiple of G.

    With is_causal the last query sees all keys, as beside a KV cache (torch's sees the first ones). No matrix of all scores.
    """
    q, k, v = (_rows(x.transpose(1, 2)) for x in (query, key, value))
    return K.attention(q, k, v, causal=is_causal, scale=scale, soft_cap=soft_cap).transpose(1, 2)


def _rows(x: torch.Tensor) -> torch.Tensor:
    return x if x.stride(-1) == 1 else x.contiguous()


def packed_linear(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, residual: torch.Tensor | None = None
) -> torch.Tensor:
    """x times the transpose of a weight that K.pack_q4_0 or its kin made, plus bias and residual. For inference."""
    return K.packed_linear(x.contiguous(), weight, bias, residual)
