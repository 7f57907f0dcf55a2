"""The experts of a mixture, of Hugging Face's transformers: patched by one line, beside both ways that transformers has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import kernpack_kernels.torch
import torch
from pairs import Pair, make_rows
from report import Row

EXPERTS, EACH, WIDTH, INNER = 32, 4, 512, 256


def measure(k: Any, threads: int) -> list[Row]:
    pairs = []
    for dtype in (torch.float32, torch.bfloat16):
        for tokens in (1, 16, 512):
            x, weights = torch.randn(tokens, WIDTH, dtype=dtype), torch.rand(tokens, EACH, dtype=dtype)
            chosen = torch.stack([torch.randperm(EXPERTS)[:EACH] for _ in range(tokens)])
            ours = _layer("eager", dtype)
            kernpack_kernels.torch.patch(ours)
            for way in ("eager", "grouped_mm"):
                name = f"{EXPERTS} experts of {WIDTH} x {INNER}, {EACH} a token, {tokens} tokens, {str(dtype)[6:]}"
                runs = [_run(layer, x, chosen, weights) for layer in (ours, _layer(way, dtype))]
                pairs.append(Pair(name, *runs, peer=f"transformers, {way}"))
    return make_rows("experts", pairs)


def _layer(way: str, dtype: torch.dtype) -> Any:
    from transformers import Qwen3MoeConfig
    from transformers.models.qwen3_moe.modeling_qwen3_moe import Qwen3MoeExperts

    config = Qwen3MoeConfig(
        hidden_size=WIDTH,
        moe_intermediate_size=INNER,
        num_experts=EXPERTS,
        num_experts_per_tok=EACH,
        experts_implementation=way,
    )
    layer = Qwen3MoeExperts(config).to(dtype)
    torch.manual_seed(0)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, std=0.02)
    return layer


def _run(layer: Any, x: torch.Tensor, chosen: torch.Tensor, weights: torch.Tensor) -> Callable[[], object]:
    @torch.inference_mode()
    def run() -> object:
        return layer(x, chosen, weights)

    return run
