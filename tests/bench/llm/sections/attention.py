"""Attention over whole sequences, its gradient, and decoding beside a cache."""

from __future__ import annotations

from itertools import product
from typing import Any

import torch
from pairs import Pair, make_rows
from report import Row
from torch.nn import functional

PEER = "torch SDPA"


def measure(k: Any, threads: int) -> list[Row]:
    return make_rows("attention", [*_whole(k), _masked(k), *_gradients(k), *_decoding(k), _prompt(k)])


def _heads_first(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    return [each.detach().transpose(1, 2).contiguous() for each in tensors]


def _whole(k: Any) -> list[Pair]:
    pairs = []
    for causal, dtype, goal in (
        (False, torch.float32, 0.9),
        (True, torch.float32, 0.55),
        (False, torch.bfloat16, 0.6),
        (True, torch.bfloat16, None),
    ):
        given = [torch.randn(1, 1024, 8, 64).to(dtype) for _ in range(3)]
        first = _heads_first(given)
        pairs.append(
            Pair(
                f"attention S 1,024{', causal' if causal else ''}, {str(dtype)[6:]}",
                lambda a=given, c=causal: k.attention(*a, causal=c),
                lambda a=first, c=causal: functional.scaled_dot_product_attention(*a, is_causal=c),
                goal,
                PEER,
            )
        )
    return pairs


def _masked(k: Any) -> Pair:
    """The mask of two documents, as it is given where several are packed into a sequence."""
    given = [torch.randn(1, 1024, 8, 64) for _ in range(3)]
    document = torch.arange(1024) // 512
    mask = ((document[:, None] == document) & torch.ones(1024, 1024, dtype=torch.bool).tril())[None, None]
    first = _heads_first(given)
    return Pair(
        "attention S 1,024, mask of two documents, float32",
        lambda: k.masked_attention(*given, mask),
        lambda: functional.scaled_dot_product_attention(*first, attn_mask=mask),
        peer=PEER,
    )


def _gradients(k: Any) -> list[Pair]:
    pairs = []
    for causal, dtype in product((False, True), (torch.float32, torch.bfloat16)):
        given = [torch.randn(1, 1024, 8, 64).to(dtype).requires_grad_() for _ in range(3)]
        first = [each.requires_grad_() for each in _heads_first(given)]
        d_out = torch.randn(1, 1024, 8, 64).to(dtype)
        (d_first,) = _heads_first([d_out])
        pairs.append(
            Pair(
                f"attention forward + backward{', causal' if causal else ''}, {str(dtype)[6:]}",
                lambda a=given, d=d_out, c=causal: torch.autograd.grad(k.attention(*a, causal=c), a, d),
                lambda a=first, d=d_first, c=causal: torch.autograd.grad(
                    functional.scaled_dot_product_attention(*a, is_causal=c), a, d
                ),
                0.8,
                PEER,
            )
        )
    return pairs


def _decoding(k: Any) -> list[Pair]:
    """One query beside a cache of 4,096 keys, of 9 heads that share 3; an int8 cache beside torch's of bf16."""
    pairs = []
    table, lengths = torch.zeros(1, 1, dtype=torch.int32), torch.tensor([4096], dtype=torch.int32)
    for dtype in (torch.float32, torch.bfloat16, torch.int8):
        theirs = torch.bfloat16 if dtype == torch.int8 else dtype
        q, caches = torch.randn(1, 1, 9, 64).to(theirs), [torch.randn(1, 4096, 3, 64).mul(20).to(dtype) for _ in "kv"]
        scales = [torch.full((1, 4096, 3), 0.05)] * 2 if dtype == torch.int8 else []
        first = _heads_first([q, *(cache.to(theirs) for cache in caches)])
        pairs.append(
            Pair(
                f"decode at 4,096, cache of {str(dtype)[6:]}",
                lambda q=q, c=caches, s=scales: k.paged_attention(q, *c, table, lengths, *s),
                lambda a=first: functional.scaled_dot_product_attention(*a, enable_gqa=True),
                0.4,
                f"{PEER} of {str(theirs)[6:]}",
            )
        )
    return pairs


def _prompt(k: Any) -> Pair:
    """512 new tokens beside a cache of 4,096, theirs among them, in pages of 16; torch's cache lies in one piece."""
    q, caches = torch.randn(1, 512, 9, 64).bfloat16(), [torch.randn(256, 16, 3, 64).bfloat16() for _ in "kv"]
    table, lengths = torch.randperm(256, dtype=torch.int32)[None], torch.tensor([4096], dtype=torch.int32)
    first = _heads_first([q, *(cache[table[0]].reshape(1, 4096, 3, 64) for cache in caches)])
    mask = torch.ones(512, 4096, dtype=torch.bool).tril(4096 - 512)
    return Pair(
        "prompt of 512 at 4,096, cache of bfloat16",
        lambda: k.paged_attention(q, *caches, table, lengths),
        lambda: functional.scaled_dot_product_attention(*first, attn_mask=mask, enable_gqa=True),
        None,
        PEER,
    )
