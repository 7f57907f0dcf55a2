"""What of a Hugging Face model isn't a module: the attention function and the loss; and by called.py what layers call by name."""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch

from kernpack_kernels.torch import called, functional
from kernpack_kernels.torch.rules import DTYPES, runs_on

NAME = "kernpack"  # of our function in transformers' registry
_BEFORE = "_kernpack_attention"  # on the model: its attention implementation before
_LOSS_BEFORE = "_kernpack_loss"  # likewise the loss function that was set, or None
_SDPA_ELSE = "without dropout; else torch's"


def patch(model: torch.nn.Module, set_forward: Callable[..., None]) -> Iterator[tuple[str, str, str, int]]:
    """Rows of the table: what, by which kernel, a note, how often."""
    if "transformers" not in sys.modules:
        return
    from transformers import PreTrainedModel

    if not isinstance(model, PreTrainedModel):
        return
    yield from _attention(model)
    yield from _loss(model)
    found = Counter(row for module in model.modules() for row in called.patch(module, set_forward))
    for row, count in found.items():
        yield (*row, count)


def unpatch(model: Any) -> bool:
    before = model.__dict__.pop(_BEFORE, None)
    if before is not None:
        model.set_attn_implementation(before)
    has_loss = _LOSS_BEFORE in model.__dict__
    if has_loss:
        loss = model.__dict__.pop(_LOSS_BEFORE)
        if loss is None:
            del model._loss_function
        else:
            model._loss_function = loss
    return before is not None or has_loss


def _attention(model: Any) -> Iterator[tuple[str, str, str, int]]:
    count = sum(hasattr(module, "is_causal") and hasattr(module, "config") for module in model.modules())
    try:
        from transformers import AttentionInterface, AttentionMaskInterface
        from transformers.integrations.sdpa_attention import sdpa_attention_forward
        from transformers.masking_utils import sdpa_mask
    except ImportError as error:
        yield "attention", "", f"this version of transformers has no registry for it: {error}", count
        return
    before = model.config._attn_implementation
    if before not in ("sdpa", "eager"):
        yield "attention", "", f"its implementation is {before!r}: only sdpa and eager are replaced", count
        return
    AttentionInterface.register(NAME, functools.partial(attention_forward, sdpa_attention_forward))
    AttentionMaskInterface.register(NAME, sdpa_mask)
    try:
        model.set_attn_implementation(NAME)
    except Exception as error:  # what a model without the registry raises is its own
        yield "attention", "", f"transformers refuses another implementation: {error}", count
        return
    if model.config._attn_implementation != NAME:
        yield "attention", "", "this model doesn't take its attention from transformers' registry", count
        return
    setattr(model, _BEFORE, before)
    yield "attention", "attention", _SDPA_ELSE, count


# What sdpa_attention_forward takes and changes the result by: where one is given, it computes.
_OTHER = ("cache", "s_aux")


def attention_forward(otherwise, module, query, key, value, attention_mask, dropout=0.0, scaling=None, **kwargs):
    """With transformers' calling convention: query [B, H, S, D], key and value [B, G, L, D]; returns [B, S, H, D] and no weights."""
    bias = kwargs.get("position_bias")
    mask = attention_mask if bias is None else _biased(bias, attention_mask)
    takes = (
        not dropout
        and all(kwargs.get(name) is None for name in _OTHER)
        and runs_on("attention" if mask is None else "masked_attention", query.device)
        and (query.device.type == "cpu" or query.shape[3] <= 256)
        and query.dtype in DTYPES
        and query.dtype != torch.float64
        and query.dtype == key.dtype == value.dtype
        and key.shape == value.shape
        and query.shape[1] % key.shape[1] == 0
        and (mask is None or _takes_mask(mask, query, key))
    )
    if not takes:
        return otherwise(module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **kwargs)
    causal = kwargs.get("is_causal")
    causal = bool(getattr(module, "is_causal", True) if causal is None else causal) and query.shape[2] > 1
    causal = causal and attention_mask is None  # else the mask says it
    if (
        causal and key.shape[2] > query.shape[2]
    ):  # an empty static cache: only what the prompt wrote is seen, as with sdpa
        key, value = key[:, :, : query.shape[2]], value[:, :, : query.shape[2]]
        mask = None if mask is None else mask[..., : query.shape[2]]
    soft_cap = kwargs.get("softcap") or 0.0
    seen = functional.attention(query, key, value, causal, scaling, soft_cap, mask)
    return seen.transpose(1, 2), None


def _biased(bias: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """A learned bias, as T5's, and what the mask leaves out or adds."""
    if mask is None:
        return bias
    return torch.where(mask, bias, -torch.inf) if mask.dtype == torch.bool else bias + mask


def _takes_mask(mask: torch.Tensor, query: torch.Tensor, key: torch.Tensor) -> bool:
    sizes = (query.shape[0], query.shape[1], query.shape[2], key.shape[2])
    return (
        mask.ndim == 4
        and (mask.dtype == torch.bool or (mask.dtype in DTYPES and mask.dtype != torch.float64))
        and mask.shape[3] == key.shape[2]
        and all(size in (1, whole) for size, whole in zip(mask.shape, sizes, strict=True))
    )


def _loss(model: Any) -> Iterator[tuple[str, str, str, int]]:
    try:
        from transformers.loss.loss_utils import ForCausalLMLoss
    except ImportError:
        return
    theirs = getattr(model, "loss_function", None) if hasattr(model, "lm_head") else None
    if theirs is None:
        return
    if theirs is not ForCausalLMLoss or not isinstance(getattr(type(model), "loss_function", None), property):
        yield "loss", "", "isn't transformers' ForCausalLMLoss", 1
        return
    setattr(model, _LOSS_BEFORE, model.__dict__.get("_loss_function"))
    model.loss_function = functools.partial(causal_lm_loss, theirs)
    yield "loss", "cross_entropy", "", 1


def causal_lm_loss(
    otherwise, logits, labels, vocab_size, num_items_in_batch=None, ignore_index=-100, shift_labels=None, **kwargs
):
    """As transformers calls it: the mean, or the sum over num_items_in_batch, in f32."""
    if not runs_on("cross_entropy", logits.device) or logits.dtype not in DTYPES or logits.dtype == torch.float64:
        return otherwise(logits, labels, vocab_size, num_items_in_batch, ignore_index, shift_labels, **kwargs)
    if shift_labels is None:
        shift_labels = torch.nn.functional.pad(labels, (0, 1), value=ignore_index)[..., 1:]
    logits, shift_labels = logits.reshape(-1, vocab_size), shift_labels.reshape(-1)
    if num_items_in_batch is None:
        return functional.cross_entropy(logits, shift_labels, ignore_index)
    return functional.cross_entropy(logits, shift_labels, ignore_index, "sum") / num_items_in_batch
