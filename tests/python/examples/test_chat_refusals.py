"""Files that hold more than examples/chat computes with are refused by name, in Python and in the C program; nothing is left out."""

from __future__ import annotations

import numpy as np
import pytest
from small_gguf import SIZES, write

gguf = pytest.importorskip("gguf", reason="gguf is not installed")
pytestmark = pytest.mark.usefixtures("chat_modules")


def vector(size=SIZES["head_width"]):
    return np.ones(size, np.float32)


def key(name, value, message=None):
    return {"fields": {name: value}}, message or name


def tensor(name, values=None):
    return {"tensors": {name: vector() if values is None else values}}, f"the tensor {name} isn't used"


REFUSED = [
    tensor("blk.0.attn_q_norm.weight"),
    tensor("blk.1.attn_q.scale", vector(1)),
    tensor("blk.0.attn_rot_embd.weight"),
    tensor("blk.0.attn_sinks.weight"),
    tensor("blk.0.attn_norm.bias"),
    tensor("blk.2.attn_q.bias"),  # of two layers
    tensor("blk.00.attn_q.bias"),
    tensor("blk.0.attn_qkv.weight"),
    tensor("blk.0.ffn_gate_inp.weight"),
    tensor("output.bias"),
    tensor("position_embd.weight"),
    tensor("rope_factors_long.weight"),
    tensor("v.blk.0.attn_q.weight"),
    key("llama.rope.scaling.type", "yarn", "llama.rope.scaling.type: expected none or linear"),
    key("llama.rope.scaling.factor", -2.0),
    key("llama.rope.scaling.factor", 1e-9),
    key("llama.rope.scaling.factor", float("nan")),
    key("llama.rope.scaling.attn_factor", 1.5, "llama.rope.scaling.attn_factor: expected 1"),
    key("llama.rope.scaling.yarn_beta_fast", 32.0),
    key("llama.rope.dimension_sections", [8, 8, 0, 0]),
    key("llama.rope.freq_base_swa", 10000.0),
    key("qwen2.rope.freq_base", 1e6, "qwen2.rope.freq_base: expected keys of 'llama' only"),
    key("llama.attention.sliding_window", 63, "sliding_window: expected 0, or at least the context of 64 tokens"),
    key("llama.attention.sliding_window_pattern", 2),
    key("llama.attention.scale", 0.5, "llama.attention.scale: expected 0.25, 1 / sqrt(head width)"),
    key("llama.attention.value_length", 8, "llama.attention.value_length: expected 16, the width of a key"),
    key("llama.attention.value_length", 0),
    key("llama.attention.layer_norm_epsilon", 1e-5),
    key("llama.attention.causal", False, "llama.attention.causal: expected "),
    key("llama.attention.clamp_kqv", 8.0, "llama.attention.clamp_kqv: expected 0"),
    key("llama.attention.max_alibi_bias", 8.0),
    key("llama.attn_logit_softcapping", 50.0, "llama.attn_logit_softcapping: expected 0"),
    key("llama.final_logit_softcapping", 30.0),
    key("llama.logit_scale", 8.0),
    key("llama.embedding_scale", 12.0),
    key("llama.residual_scale", 0.2),
    key("llama.expert_count", 8, "is a mixture of experts"),
    key("llama.expert_used_count", 2),
    key("llama.interleave_moe_layer_step", 2),
    key("llama.attention.head_count_kv", [2, 2]),
    key("split.count", 2, "merge them with `llama-gguf-split --merge` first"),
    key("general.type", "adapter", "general.type: expected model"),
    key("general.quantization_version", 3),
    (
        {"fields": {"llama.rope.scaling.factor": 2.0, "llama.rope.scale_linear": 4.0}},
        "llama.rope.scale_linear: expected 2",
    ),
    ({"tensors": {"rope_freqs.weight": vector(5)}}, "rope_freqs.weight: expected the shape "),
    ({"tensors": {"rope_freqs.weight": 0 * vector(8)}}, "rope_freqs.weight: expected factors above 0"),
    ({"tensors": {"rope_freqs.weight": np.inf * vector(8)}}, "rope_freqs.weight: expected factors above 0"),
    ({"tensors": {"blk.0.attn_q.bias": vector(63)}}, "blk.0.attn_q.bias: expected the shape "),
    ({"tensors": {"output.weight": np.ones((8, 64), np.float32)}}, "output.weight: expected the shape [262, 64], got "),
    ({"byte_order": gguf.GGUFEndian.BIG}, "is a big-endian file"),
]
# Keys beside the sizes in files of this family that don't change results.
ACCEPTED = {
    "llama.vocab_size": SIZES["pieces"],
    "llama.tensor_data_layout": "Meta AI original pth",
    "llama.rope.scaling.type": "none",
    "llama.rope.scaling.factor": 8.0,
    "llama.rope.scaling.original_context_length": 64,
    "llama.rope.scaling.finetuned": True,
    "llama.rope.scaling.attn_factor": 1.0,
    "llama.attention.key_length": 16,
    "llama.attention.value_length": 16,
    "llama.attention.causal": True,
    "llama.attention.scale": 0.25,
    "llama.attention.sliding_window": 64,
    "llama.attn_logit_softcapping": 0.0,
    "llama.expert_count": 0,
    "llama.expert_used_count": 0,
    "llama.logit_scale": 1.0,
    "general.type": "model",
    "general.quantization_version": 2,
    "general.sampling.temp": 0.5,
    "split.count": 1,
    "someone.quantized_by": "someone",
}


def write_case(path, options):
    """A field replaces the one that is written anyhow."""
    fields = options.get("fields", {})
    if "llama.attention.head_count_kv" not in fields:
        return write(path, **options)
    whole = write(path).read_bytes()
    name = b"llama.attention.head_count_kv"
    at = whole.index(name) + len(name)
    element, count = (4).to_bytes(4, "little"), (2).to_bytes(8, "little")
    values = b"".join(value.to_bytes(4, "little") for value in fields[name.decode()])
    path.write_bytes(whole[:at] + (9).to_bytes(4, "little") + element + count + values + whole[at + 8 :])
    return path


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_not_computed_with_is_refused_by_name(k, tmp_path, options, message):
    from gguf_file import GgufFile, ModelError
    from model import Model

    path = write_case(tmp_path / "m.gguf", options)
    with pytest.raises(ModelError) as error:
        Model(k, GgufFile(path))
    assert str(path) in str(error.value)
    assert message in str(error.value)


def test_the_program_refuses_them_too(program, tmp_path):
    for i, (options, message) in enumerate(REFUSED):
        path = write_case(tmp_path / f"{i}.gguf", options)
        done = program(path, "1", "1")
        assert done.returncode == 1, message
        assert str(path) in done.stderr
        assert message in done.stderr


def test_what_changes_no_result_is_accepted(k, program, tmp_path):
    from c_model import Model as Program
    from gguf_file import GgufFile
    from model import Model

    files = [GgufFile(write(tmp_path / f"{i}.gguf", fields=fields)) for i, fields in enumerate(({}, ACCEPTED))]
    plain, found = (model.forward([1, 2, 3], model.cache(3)) for model in (Model(k, file) for file in files))
    np.testing.assert_array_equal(found, plain)
    plain, found = (Program(k, file).answer([1, 2, 3], 2)[1] for file in files)
    np.testing.assert_array_equal(found, plain)


@pytest.mark.parametrize("twice", ["llama.block_count", "blk.0.attn_k.weight"])
def test_what_appears_twice_is_refused(k, program, tmp_path, twice):
    """The reader that takes the first, and one that takes the last, would run different models."""
    from gguf_file import GgufFile, ModelError
    from model import Model

    other = {"llama.block_count": "llama.vocab_sizes", "blk.0.attn_k.weight": "blk.0.attn_v.weight"}[twice]
    fields = {other: 2} if "llama" in other else {}
    path = write(tmp_path / "m.gguf", fields=fields)
    data = path.read_bytes()
    assert len(twice) == len(other)
    path.write_bytes(data.replace(other.encode(), twice.encode()))
    with pytest.raises(ModelError, match=twice):
        Model(k, GgufFile(path))
    done = program(path, "1", "1")
    assert done.returncode == 1
    assert f"{twice} appears twice" in done.stderr.replace(": appears", " appears")


def test_values_that_cannot_be_read_are_named(tmp_path):
    from gguf_file import ModelError, Weights

    with pytest.raises(
        ModelError, match=r"m.gguf: blk.0.attn_q.weight: the gguf package can't read values of the type F64"
    ):
        Weights("m.gguf: blk.0.attn_q.weight", "F64", np.zeros((1, 1)), 1).values()


def test_a_version_before_the_second_is_named(k, program, tmp_path):
    from gguf_file import GgufFile, ModelError

    path = write(tmp_path / "m.gguf")
    data = bytearray(path.read_bytes())
    data[4] = 1
    path.write_bytes(data)
    with pytest.raises(ModelError, match="expected GGUF of version 2 or 3, got 1"):
        GgufFile(path)
    assert "expected GGUF of version 2 or 3, got 1" in program(path, "1", "1").stderr
