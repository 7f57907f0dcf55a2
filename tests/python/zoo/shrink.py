"""Configurations of transformers' models, made tiny: sizes by the names that their fields have."""

from __future__ import annotations

import inspect
from typing import Any

# value: names of fields.
_SIZES: tuple[tuple[float, str], ...] = (
    (
        64,
        "hidden_size d_model n_embd dim embed_dim model_dim hidden_dim encoder_hidden_size decoder_hidden_size "
        "embedding_size output_dim projection_dim out_hidden_size decoder_output_dim mm_hidden_size proj_dim "
        "word_embed_proj_dim text_hidden_size vision_hidden_size audio_hidden_size cross_attention_hidden_size "
        "model_hidden_size input_dim encoder_dim decoder_dim attention_hidden_size lru_width",
    ),
    (
        4,
        "num_attention_heads n_head n_heads num_heads encoder_attention_heads decoder_attention_heads "
        "attention_heads num_cross_attention_heads encoder_heads num_query_heads index_n_heads index_topk "
        "linear_num_value_heads time_step_rank mamba_dt_rank",
    ),
    (
        2,
        "num_key_value_heads n_kv_heads num_kv_heads decoder_num_key_value_heads encoder_num_key_value_heads "
        "num_multi_query_heads o_groups linear_num_key_heads",
    ),
    (
        16,
        "head_dim attention_head_dim d_kv global_head_dim v_head_dim qk_nope_head_dim qk_rope_head_dim index_head_dim "
        "kv_channels attention_key_dim o_lora_rank num_mel_bins mamba_d_head mamba_head_dim linear_key_head_dim "
        "linear_value_head_dim query_pre_attn_scalar hidden_size_per_layer_input",
    ),
    (32, "kv_lora_rank q_lora_rank image_size input_size max_source_positions"),
    (
        96,
        "intermediate_size ffn_dim d_ff n_inner encoder_ffn_dim decoder_ffn_dim ffn_hidden_size moe_intermediate_size "
        "shared_expert_intermediate_size expert_intermediate_size intermediate_dim mlp_dim shared_intermediate_size "
        "expert_ffn_hidden_size moe_shared_expert_intermediate_size dense_intermediate_size intermediate_size_mlp "
        "block_ff_dim",
    ),
    (
        2,
        "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers num_encoder_layers "
        "num_decoder_layers depth_decoder_layers num_blocks num_experts_per_tok moe_topk top_k_experts moe_k "
        "num_experts_per_token moe_top_k top_k",
    ),
    (
        128,
        "vocab_size text_vocab_size num_text_tokens vocab_size_per_layer_input max_position_embeddings n_positions "
        "n_ctx seq_length max_sequence_length max_target_positions max_seq_len mamba_d_ssm",
    ),
    (4, "num_experts num_local_experts n_routed_experts moe_num_experts num_routed_experts n_experts"),
    (
        1,
        "n_group topk_group num_expert_group n_shared_experts num_shared_experts moe_num_shared_experts "
        "first_k_dense_replace moe_layer_start_index num_dense_layers mamba_n_groups",
    ),
    (
        8,
        "patch_size mamba_d_state state_size ssm_state_size mamba_state_dim mamba_n_heads n_mamba_heads "
        "mamba_num_heads mamba_chunk_size chunk_size",
    ),
    (6, "sliding_window attention_window_size local_attention attention_chunk_size"),
    (3, "num_channels conv_L_cache"),
    (0, "pad_token_id"),
    (0.0, "layerdrop encoder_layerdrop decoder_layerdrop mask_time_prob mask_feature_prob"),
    (1, "bos_token_id"),
    (2, "eos_token_id"),
)
SIZES = {name: value for value, names in _SIZES for name in names.split()}

_WINDOWS = {"embed_dim": 16, "depths": [1, 1], "num_heads": [2, 4], "window_size": 2, "patch_size": 2}
_SPEECH = {
    "conv_dim": [16, 16],
    "conv_kernel": [4, 4],
    "conv_stride": [2, 2],
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 2,
}
_DISENTANGLED = {
    "relative_attention": True,
    "pos_att_type": ["c2p", "p2c"],
    "position_biased_input": False,
}
# Sizes that the names of fields don't tell, by the kind of model.
OF_KIND: dict[str, dict[str, Any]] = {
    "bamba": {"attn_layer_indices": [1]},
    "data2vec-audio": _SPEECH,
    "deberta": {**_DISENTANGLED, "max_relative_positions": -1},
    "deberta-v2": {**_DISENTANGLED, "position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": True},
    "falcon": {"alibi": False, "new_decoder_architecture": False, "multi_query": True},
    "funnel": {"block_sizes": [1, 1]},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"]},
    "hubert": _SPEECH,
    "jamba": {
        "num_hidden_layers": 4,
        "attn_layer_period": 2,
        "attn_layer_offset": 1,
        "expert_layer_period": 2,
        "expert_layer_offset": 1,
        "use_mamba_kernels": False,
    },
    "led": {"attention_window": 4},
    "lfm2": {"num_hidden_layers": 3, "full_attn_idxs": [1], "layer_types": ["conv", "full_attention", "conv"]},
    "longformer": {"attention_window": 4},
    "mamba2": {"num_heads": 8, "head_dim": 16, "n_groups": 1},
    "mpt": {"d_model": 64, "n_heads": 4, "n_layers": 2},
    "qwen3_5_moe_text": {"num_hidden_layers": 4},
    "qwen3_5_text": {"num_hidden_layers": 4},
    "qwen3_next": {"num_hidden_layers": 4},
    "recurrent_gemma": {"num_hidden_layers": 3, "attention_window_size": 8},
    "sew": _SPEECH,
    "swin": _WINDOWS,
    "swinv2": _WINDOWS,
    "unispeech": _SPEECH,
    "unispeech-sat": _SPEECH,
    "wav2vec2": _SPEECH,
    "wav2vec2-conformer": _SPEECH,
    "wavlm": _SPEECH,
}
_SET_EVEN_IF_NONE = {"num_key_value_heads", "ffn_dim"}


def tiny(kind: type) -> Any:
    """A configuration of this class with two layers, four heads and a width of 64, and with dropout where it has one."""
    try:
        default: Any = kind()
    except Exception:  # one that has no default of its own
        default = None
    given = {
        name: value
        for name in _fields(kind)
        if (value := _size(name, getattr(default, name, None), default)) is not None
    }
    for name, part in (getattr(kind, "sub_configs", None) or {}).items():
        of_part = type(getattr(default, name, None)) if part.__name__ == "AutoConfig" else part
        if of_part is not type(None):
            given[name] = tiny(of_part)
    return kind(**{**given, **OF_KIND.get(getattr(kind, "model_type", ""), {})})


def _fields(kind: type) -> set[str]:
    names = set(inspect.signature(kind.__init__).parameters) | set(getattr(kind, "__dataclass_fields__", ()))
    return names - {"self", "args", "kwargs"}


def _size(name: str, value: Any, default: Any) -> Any:
    if isinstance(value, (list, tuple, dict)):
        return None
    if isinstance(value, float) and ("dropout" in name or "pdrop" in name):
        return 0.1
    if name not in SIZES or (value is None and default is not None and name not in _SET_EVEN_IF_NONE):
        return None
    if name == "num_key_value_heads":
        if value is None:
            return None
        return 4 if value == getattr(default, "num_attention_heads", None) else 2  # as many as heads, where they were
    return SIZES[name]
