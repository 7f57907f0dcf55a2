"""A Llama-like model of Hugging Face's transformers, patched by one line, beside the same model in plain torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import kernpack_kernels.torch
import torch
from pairs import Pair, make_rows
from report import Row


def measure(k: Any, threads: int) -> list[Row]:
    ids = torch.randint(4096, (1, 512))
    plain, patched = _model(), _model()
    compiled = _model()
    compiled.forward = torch.compile(compiled.forward)
    kernpack_kernels.torch.patch(patched)
    pairs = []
    for peer, model, goal in (("torch eager", plain, 0.7), ("torch.compile", compiled, 0.9)):
        pairs.append(Pair("training step, 8 layers, 512 wide", _step(patched, ids), _step(model, ids), goal, peer))
        pairs.append(Pair("inference, 8 layers, 512 wide", _infer(patched, ids), _infer(model, ids), goal, peer))
    for linear in ("dense", "int8"):
        rounded = _model()
        kernpack_kernels.torch.patch(rounded, linear=linear)
        name = f'inference, linear="{linear}"'
        pairs.append(Pair(name, _infer(rounded, ids), _infer(plain, ids), 0.7, "torch eager"))
    pairs.append(Pair(name, _infer(rounded, ids), _infer_in_bf16(plain, ids), 0.9, "torch eager, autocast to bf16"))
    return make_rows("patched", pairs)


def _model() -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=4096,
        hidden_size=512,
        intermediate_size=1408,
        num_hidden_layers=8,
        num_attention_heads=8,
        num_key_value_heads=4,
        max_position_embeddings=1024,
    )
    return LlamaForCausalLM(config)


def _step(model: Any, ids: torch.Tensor) -> Callable[[], object]:
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def run() -> None:
        optimizer.zero_grad()
        model(input_ids=ids, labels=ids, use_cache=False).loss.backward()
        optimizer.step()

    return run


def _infer_in_bf16(model: Any, ids: torch.Tensor) -> Callable[[], object]:
    return torch.autocast("cpu", torch.bfloat16)(_infer(model, ids))


def _infer(model: Any, ids: torch.Tensor) -> Callable[[], object]:
    @torch.inference_mode()
    def run() -> None:
        model(input_ids=ids, use_cache=False)

    return run
