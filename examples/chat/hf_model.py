"""The model as Hugging Face's LlamaForCausalLM, with the file's values in f32; one line puts the kernels into it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import kernpack_kernels.torch
import numpy as np
import torch
from contents import NORMS
from gguf_file import GgufFile, ModelError, Sizes
from packed import Progress, layer_biases, layer_shapes
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

_NAMES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def build(file: GgufFile, progress: Progress = iter) -> LlamaForCausalLM:
    """The model without our kernels."""
    sizes = file.sizes()
    if file.has("rope_freqs.weight") or sizes.rope_width != sizes.head_width:
        raise ModelError(f"{file.path}: the host hf takes rope over whole heads, without rope_freqs: take another host")
    found = {name for i in range(sizes.layers) for name in layer_biases(file, sizes, i)}
    config = LlamaConfig(
        vocab_size=sizes.vocabulary,
        hidden_size=sizes.width,
        intermediate_size=sizes.hidden,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        num_key_value_heads=sizes.groups,
        head_dim=sizes.head_width,
        max_position_embeddings=sizes.context,
        rms_norm_eps=sizes.eps,
        rope_parameters=_rope(sizes),
        attention_bias=any(name.startswith("attn") for name in found),
        mlp_bias=any(name.startswith("ffn") for name in found),
        tie_word_embeddings=not file.has("output.weight"),
        bos_token_id=None,
        eos_token_id=None,
    )
    with torch.device("meta"):
        model = LlamaForCausalLM(config)
    model = model.to_empty(device="cpu").eval()
    if config.tie_word_embeddings:
        model.lm_head.weight = model.model.embed_tokens.weight
    with torch.no_grad():
        _fill(model, file, sizes, progress)
    # Tensors that aren't in the file were left empty above.
    model.model.rotary_emb = type(model.model.rotary_emb)(config)
    return model


def _rope(sizes: Sizes) -> dict[str, Any]:
    if sizes.rope_factor == 1:
        return {"rope_type": "default", "rope_theta": sizes.rope_base}
    return {"rope_type": "linear", "rope_theta": sizes.rope_base, "factor": sizes.rope_factor}


def _fill(model: LlamaForCausalLM, file: GgufFile, sizes: Sizes, progress: Progress) -> None:
    def matrix(name: str, rows: int, columns: int) -> torch.Tensor:
        return torch.from_numpy(np.array(file.matrix(f"{name}.weight", rows, columns).values()))

    model.model.embed_tokens.weight.copy_(matrix("token_embd", sizes.vocabulary, sizes.width))
    if file.has("output.weight"):
        model.lm_head.weight.copy_(matrix("output", sizes.vocabulary, sizes.width))
    model.model.norm.weight.copy_(torch.from_numpy(file.vector("output_norm.weight", sizes.width)))
    for i in progress(range(sizes.layers)):
        layer = model.model.layers[i]
        biases = layer_biases(file, sizes, i)
        for name, shape in layer_shapes(sizes).items():
            linear = layer.get_submodule(_NAMES[name])
            values = {"weight": matrix(f"blk.{i}.{name}", *shape)}
            if linear.bias is not None:
                values["bias"] = torch.from_numpy(biases.get(name, np.zeros(shape[0], np.float32)))
            for kind, x in values.items():
                if name in ("attn_q", "attn_k"):  # the file pairs neighbours of a head, Hugging Face its halves
                    pairs = x.reshape(-1, sizes.head_width // 2, 2, *x.shape[1:])
                    x = pairs.transpose(1, 2).reshape(x.shape)
                getattr(linear, kind).copy_(x)
        for name, norm in zip(NORMS, (layer.input_layernorm, layer.post_attention_layernorm), strict=True):
            norm.weight.copy_(torch.from_numpy(file.vector(f"blk.{i}.{name}.weight", sizes.width)))


class Cache:
    def __init__(self, config: Any, capacity: int) -> None:
        self.states = DynamicCache(config=config)
        self.capacity, self.length = capacity, 0


class Model:
    """The patched model behind the interface of the NumPy host."""

    requantised: tuple[str, ...] = ()

    def __init__(self, k: Any, file: GgufFile, progress: Progress = iter) -> None:
        self.sizes = file.sizes()
        self.module = build(file, progress)
        self.patched = kernpack_kernels.torch.patch(self.module)

    def cache(self, capacity: int) -> Cache:
        return Cache(self.module.config, capacity)

    @torch.inference_mode()
    def forward(self, tokens: Iterable[int], cache: Cache, every: bool = False) -> np.ndarray:
        """The logits behind the last of the tokens, or behind each; the cache grows by them."""
        ids = torch.tensor([list(tokens)])
        too_many = cache.states.get_seq_length() - cache.length
        if too_many:
            cache.states.crop(-too_many)
        out = self.module(input_ids=ids, past_key_values=cache.states, use_cache=True, logits_to_keep=0 if every else 1)
        cache.length += ids.shape[1]
        return out.logits[0].numpy()
