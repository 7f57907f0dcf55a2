"""Functions with PyTorch's names and layouts over the kernels. Tensors that a kernel would refuse as they lie are copied first."""

from __future__ import annotations

from collections.abc import Callable

import kernpack
import torch

K = kernpack.load("kernpack_kernels")


def rms_norm(x: torch.Tensor, weight: torch.Tensor | None = None, eps: float = 1e-6) -> torch.Tensor:
    """x of any strides; the weight, if there is one, of any floating-point dtype. The result has x's dtype."""
    return K.rms_norm(x, _weight(x, weight), eps=eps)


def layer_norm(
    x: torch.Tensor, weight: torch.Tensor | None = None, bias: torch.Tensor | None = None, eps: float = 1e-5
) -> torch.Tensor:
    """As rms_norm; the bias has the weight's dtype."""
    return K.layer_norm(x, _weight(x, weight), bias, eps=eps)


def group_norm(
    x: torch.Tensor,
    num_groups: int,
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    eps: float = 1e-5,
) -> torch.Tensor:
    weight = x.new_ones(x.shape[1]) if weight is None else weight
    return K.group_norm(x, weight, bias, groups=num_groups, eps=eps)


def _weight(x: torch.Tensor, weight: torch.Tensor | None) -> torch.Tensor:
    return x.new_ones(x.shape[-1]) if weight is None else weight


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Over any dimension; elements that are all -inf give zeros."""
    if not -x.ndim <= dim < x.ndim:
        raise IndexError(f"softmax: dim: expected -{x.ndim} to {x.ndim - 1} for a tensor of {x.ndim} dims, got {dim}")
    dim, x = dim % x.ndim, x.contiguous()
    if dim == x.ndim - 1:
        return K.softmax(x)
    return K.softmax_columns(x.flatten(dim + 1)).view(x.shape)


def embedding(input: torch.Tensor, weight: torch.Tensor, padding_idx: int | None = None) -> torch.Tensor:
    """The row of padding_idx gets no gradient."""
    return K.embedding(weight.contiguous(), input.contiguous(), padding_idx=_padding(weight, padding_idx))


def embedding_bag(
    input: torch.Tensor,
    weight: torch.Tensor,
    offsets: torch.Tensor | None = None,
    mode: str = "mean",
    per_sample_weights: torch.Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> torch.Tensor:
    """Bags are the rows of a matrix of indices, or begin at the offsets of a list of them. Weights have the table's dtype."""
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError("embedding_bag: offsets: expected None where the indices are a matrix, a bag per row")
        bags, each = input.shape
        offsets = torch.arange(bags, dtype=input.dtype, device=input.device) * each
        input = input.flatten()
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.flatten()
    elif offsets is None:
        raise ValueError("embedding_bag: offsets: expected them where the indices are a list, got None")
    elif include_last_offset:
        offsets = offsets[:-1]
    return K.embedding_bag(
        weight.contiguous(),
        input.contiguous(),
        offsets.to(input.dtype).contiguous(),
        None if per_sample_weights is None else per_sample_weights.contiguous(),
        mode=mode,
        padding_idx=_padding(weight, padding_idx),
    )


def _padding(weight: torch.Tensor, index: int | None) -> int:
    """As the kernels have it: -1 for none. torch counts negative ones from the end."""
    if index is None:
        return -1
    rows = len(weight)
    if not -rows <= index < rows:
        raise ValueError(f"padding_idx: expected -{rows} to {rows - 1} for a table of {rows} rows, got {index}")
    return index % rows


def causal_conv1d(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    initial_states: torch.Tensor | None = None,
    activation: str | None = None,
) -> torch.Tensor:
    """x [B, C, L], weight [C, W], initial_states [B, C, W - 1], in the layouts of the package causal-conv1d; activation: None, "silu" or
    "swish", which is the same. A transposed [B, L, C], as models have it, isn't copied, and the result then lies as x does."""
    if activation not in (None, "silu", "swish"):
        raise ValueError(f'causal_conv1d: activation: expected None, "silu" or "swish", got {activation!r}')
    state = None if initial_states is None else initial_states.transpose(1, 2).contiguous()
    kind = "none" if activation is None else "silu"
    return K.causal_conv1d(x.transpose(1, 2), weight.contiguous(), bias, state, activation=kind).transpose(1, 2)


def gelu(x: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    return K.gelu(x.contiguous(), approximate=approximate)


def swiglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """silu(gate) * up. The halves that `chunk` returns aren't copied."""
    return K.swiglu(gate, up)


def geglu(gate: torch.Tensor, up: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    """gelu(gate) * up. The halves that `chunk` gives aren't copied."""
    return K.geglu(gate, up, approximate=approximate)


def silu(x: torch.Tensor) -> torch.Tensor:
    return K.silu(x)


def relu2(x: torch.Tensor) -> torch.Tensor:
    """max(x, 0) squared."""
    return K.relu2(x)


def cross_entropy(
    logits: torch.Tensor, target: torch.Tensor, ignore_index: int = -100, reduction: str = "mean"
) -> torch.Tensor:
    """Of logits [..., classes] (torch's takes the classes as the second dimension), in f32. The mean counts the targets that aren't
    ignored."""
    loss = K.cross_entropy(logits, target, ignore_index=ignore_index)
    if reduction == "mean":
        return loss.sum() / (target != ignore_index).sum()
    if reduction not in ("sum", "none"):
        raise ValueError(f"cross_entropy: reduction: expected mean, sum or none, got {reduction!r}")
    return loss.sum() if reduction == "sum" else loss


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
    attn_mask: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
) -> torch.Tensor:
    """Like scaled_dot_product_attention: query [B, H, S, D]; key and value [B, G, L, D], H a multiple of G; a mask that broadcasts to
    [B, H, S, L], bool or added to the scores. A query without keys gives zeros.

    With is_causal the last query sees all keys, as beside a KV cache (torch's sees the first ones). No matrix of all scores.
    sinks [H], of any floating-point dtype: a score for each head that takes part in the softmax and has no value, as in gpt-oss.
    """
    q, k, v = (_rows(x.transpose(1, 2)) for x in (query, key, value))
    options = {"causal": is_causal, "scale": scale, "soft_cap": soft_cap}
    sinks = None if sinks is None else sinks.float().contiguous()
    if attn_mask is None:
        return K.attention(q, k, v, None, sinks, **options).transpose(1, 2)
    mask = attn_mask[(None,) * (4 - attn_mask.ndim)].expand(-1, -1, -1, key.shape[2])
    return K.masked_attention(q, k, v, mask, sinks, **options).transpose(1, 2)


def _rows(x: torch.Tensor) -> torch.Tensor:
    return x if x.stride(-1) == 1 else x.contiguous()


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """x [..., K] times the transpose of weight [N, K], plus bias, as torch's. Vectors of one dimension are taken, too."""
    return K.linear(x.contiguous(), weight, bias)


def packed_linear(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, residual: torch.Tensor | None = None
) -> torch.Tensor:
    """x times the transpose of a weight that K.pack_q4_0 or its kin made, plus bias and residual. For inference."""
    return K.packed_linear(x.contiguous(), weight, bias, residual)


def experts(
    x: torch.Tensor,
    chosen: torch.Tensor,
    shares: torch.Tensor,
    gate_up: torch.Tensor,
    down: torch.Tensor,
    gate: Callable[[torch.Tensor], torch.Tensor],
    gate_up_bias: torch.Tensor | None = None,
    down_bias: torch.Tensor | None = None,
) -> torch.Tensor:
    """A mixture of experts. x: [rows, width]; chosen, shares: [rows, k], which experts a row has, and what part of each; gate_up, down:
    the experts' weights, [experts, out, in]; gate: of [n, out] to what `down` takes; the biases: [experts, out]. The rows of each expert
    are multiplied together."""
    rows, each = chosen.shape
    order, offsets = K.sort_into_groups(chosen.reshape(-1), count=len(gate_up))
    experts_in_order = chosen.reshape(-1)[order]
    hidden = K.grouped_linear(x[order // each], gate_up, offsets)
    hidden = gate(hidden if gate_up_bias is None else hidden + gate_up_bias[experts_in_order])
    out = K.grouped_linear(hidden.contiguous(), down, offsets)
    out = out if down_bias is None else out + down_bias[experts_in_order]
    out = out * shares.reshape(-1)[order, None]
    places = torch.arange(len(order), dtype=order.dtype, device=order.device)
    back = torch.empty_like(order).index_copy(0, order.long(), places)
    return out[back].reshape(rows, each, out.shape[-1]).sum(1).to(x.dtype)
