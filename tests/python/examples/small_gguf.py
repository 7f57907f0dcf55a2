"""GGUF files of small models, right and wrong ones, for the tests of examples/chat."""

from __future__ import annotations

import numpy as np
import pytest
from support.ggml_blocks import random_blocks

gguf = pytest.importorskip("gguf", reason="gguf is not installed")

SIZES = {"layers": 2, "width": 64, "hidden": 96, "heads": 4, "groups": 2, "head_width": 16, "pieces": 262}
WIDE = {**SIZES, "width": 256, "hidden": 512, "head_width": 64}  # whole blocks of the K formats


def write(
    path,
    architecture="llama",
    form="Q8_0",
    change=lambda name, value: value,
    leave_out=(),
    head=False,
    forms=None,
    template="",
    fields=None,
    tensors=None,
    tokens=None,
    byte_order=gguf.GGUFEndian.LITTLE,
):
    """A small model of random weights whose tokens are the bytes and one merge. `forms`: of matrices whose name ends so, those that
    aren't of `form`. A K format makes the model wide. `fields`, `tensors`: beside these, by their whole names. `tokens`: by number
    their texts and types, in the place of the last ones."""
    writer = gguf.GGUFWriter(path, architecture, endianess=byte_order)
    s, rng = WIDE if form.endswith("_K") else SIZES, np.random.default_rng(0)
    sizes = {
        "block_count": s["layers"],
        "context_length": 64,
        "embedding_length": s["width"],
        "feed_forward_length": s["hidden"],
        "attention.head_count": s["heads"],
        "attention.head_count_kv": s["groups"],
    }
    for name, value in sizes.items():
        writer.add_uint32(f"{architecture}.{name}", change(name, value))
    for name, value in (fields or {}).items():
        kind = {str: writer.add_string, bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32}
        kind.get(type(value), writer.add_array)(name, value)
    writer.add_float32(f"{architecture}.attention.layer_norm_rms_epsilon", 1e-5)
    letters = byte_letters()
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    pieces = [(letter, 1) for letter in letters] + [(f"<|{i}|>", 3) for i in range(s["pieces"] - len(letters))]
    for i, piece in (tokens or {}).items():
        pieces[i] = piece
    writer.add_token_list([piece for piece, _ in pieces])
    writer.add_token_types([kind for _, kind in pieces])
    writer.add_token_merges(["a b"])
    if template:
        writer.add_chat_template(template)
    shapes = {"token_embd": (s["pieces"], s["width"]), "output_norm": (s["width"],)}
    if head:
        shapes["output"] = shapes["token_embd"]
    keys = s["groups"] * s["head_width"]
    for i in range(s["layers"]):
        for name, shape in {
            "attn_norm": (s["width"],),
            "ffn_norm": (s["width"],),
            "attn_q": (s["width"], s["width"]),
            "attn_k": (keys, s["width"]),
            "attn_v": (keys, s["width"]),
            "attn_output": (s["width"], s["width"]),
            "ffn_gate": (s["hidden"], s["width"]),
            "ffn_up": (s["hidden"], s["width"]),
            "ffn_down": (s["width"], s["hidden"]),
        }.items():
            shapes[f"blk.{i}.{name}"] = shape
    for name, shape in shapes.items():
        if name in leave_out:
            continue
        values = rng.normal(size=change(name, shape)).astype(np.float32) * 0.3
        own = (forms or {}).get(name.rpartition(".")[2], form)
        if len(shape) == 1 or own == "F32":
            writer.add_tensor(f"{name}.weight", values)
        else:
            kind = gguf.GGMLQuantizationType[own]
            blocks = (
                random_blocks(rng, own.lower(), *shape, scale=1 / 512)
                if own.endswith("_K")
                else gguf.quants.quantize(values, kind)
            )
            writer.add_tensor(f"{name}.weight", blocks, raw_dtype=kind)
    for name, values in (tensors or {}).items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def biases(*names, layers=range(SIZES["layers"])):
    """Random ones of these matrices, tensors of `write`."""
    s, rng = SIZES, np.random.default_rng(7)
    size = {
        "attn_k": s["groups"] * s["head_width"],
        "attn_v": s["groups"] * s["head_width"],
        "ffn_gate": s["hidden"],
        "ffn_up": s["hidden"],
    }
    return {
        f"blk.{i}.{name}.bias": rng.normal(size=size.get(name, s["width"])).astype(np.float32)
        for i in layers
        for name in names
    }


def byte_letters():
    """The letters that GPT-2's tokenizer writes bytes as, and one merge."""
    from tokenizers import pre_tokenizers

    return [*sorted(pre_tokenizers.ByteLevel.alphabet()), "ab"]
