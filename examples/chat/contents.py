"""The keys and tensors that a file of the Llama family may contain. The hosts refuse a key or a tensor that they don't use: without it, the
answers would be wrong.

c/fields.c and c/gguf.c have the C program's lists.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from typing import Any

MATRICES = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")  # each may have a bias
NORMS = ("attn_norm", "ffn_norm")
WHOLE = ("token_embd.weight", "output_norm.weight", "output.weight", "rope_freqs.weight")
_OF_A_LAYER = {f"{name}.weight" for name in (*MATRICES, *NORMS)} | {f"{name}.bias" for name in MATRICES}

_USED = {
    "block_count", "context_length", "embedding_length", "feed_forward_length", "attention.head_count",
    "attention.head_count_kv", "attention.key_length", "attention.layer_norm_rms_epsilon", "rope.dimension_count",
    "rope.freq_base", "rope.scaling.type", "rope.scaling.factor", "rope.scale_linear",
    # They change no result: the tensors say how large the vocabulary is, and the others are history.
    "vocab_size", "tensor_data_layout", "rope.scaling.finetuned", "rope.scaling.original_context_length",
}  # fmt: skip
# Accepted with the value that changes no result.
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "attention.causal": (True,),
    "attention.clamp_kqv": (0,),
    "attention.max_alibi_bias": (0,),
    "attention.shared_kv_layers": (0,),
    "attn_logit_softcapping": (0,),
    "final_logit_softcapping": (0,),
    "rope.scaling.attn_factor": (1,),
    "expert_count": (0,),
    "expert_used_count": (0,),
    "embedding_scale": (0, 1),
    "logit_scale": (0, 1),
    "residual_scale": (0, 1),
    "pooling_type": (0,),
    "use_parallel_residual": (False,),
}
ADVICE = "use another program for this model, such as llama.cpp"


def key_problem(fields: Mapping[str, Any], head_width: int, context: int) -> str | None:
    """The error about the first key of a file that would change the answers and isn't used."""
    for key, value in fields.items():
        name = key.removeprefix("llama.")
        if name == key:
            if ".rope." in key or ".attention." in key:
                return f"{key}: expected keys of 'llama' only: {ADVICE}"
        elif name == "attention.value_length":
            if value != head_width:
                return f"{key}: expected {head_width}, the width of a key, got {value!r:.60}: {ADVICE}"
        elif name == "attention.scale":
            scale = 1 / math.sqrt(head_width)
            if not _is_number(value) or not (value == 0 or math.isclose(value, scale, rel_tol=1e-6)):
                return f"{key}: expected {scale:.6g}, 1 / sqrt(head width), got {value!r:.60}: {ADVICE}"
        elif name == "attention.sliding_window":
            if not _is_number(value) or 0 < value < context:
                return f"{key}: expected 0, or at least the context of {context} tokens, got {value!r:.60}: {ADVICE}"
        elif name in _NEUTRAL:
            if value not in _NEUTRAL[name]:
                return f"{key}: expected {' or '.join(map(str, _NEUTRAL[name]))}, got {value!r:.60}: {ADVICE}"
        elif name not in _USED:
            return f"{key}: isn't used by this example, and the answers may be wrong without it: {ADVICE}"
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def tensor_problem(names: Collection[str], layers: int) -> str | None:
    """The first tensor that isn't used, and which are."""
    for name in names:
        layer = re.fullmatch(r"blk\.(0|[1-9]\d{0,5})\.(.+)", name)
        known = layer[2] in _OF_A_LAYER and int(layer[1]) < layers if layer else name in WHOLE
        if not known:
            return (
                f"the tensor {name:.80} isn't used by this example, and the answers would be wrong without it. Supported are "
                f"{', '.join(WHOLE)}; and of each of the {layers} layers the weights of {', '.join(NORMS)}, and weights and "
                f"biases of {', '.join(MATRICES)}: {ADVICE}"
            )
    return None
