"""kernpack_kernels.torch.patch replaces attention only where it is equal; the rest stays as it was, and so do configs."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
import kernpack_kernels.torch as kt  # noqa: E402  (needs torch)
from kernpack_kernels.torch import attention, trial  # noqa: E402

IDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "vocab_size": 64}
HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16}
SIZES = {**IDS, **HEADS, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2}
SEQ2SEQ = {
    **IDS,
    "d_model": 32,
    "max_position_embeddings": 128,
    **{
        f"{side}_{name}": size
        for side in ("encoder", "decoder")
        for name, size in (("layers", 2), ("ffn_dim", 48), ("attention_heads", 2))
    },
}
SPARSE = {
    **IDS,
    **dict.fromkeys(("hidden_size", "intermediate_size", "moe_intermediate_size"), 64),
    **dict.fromkeys(("kv_lora_rank", "q_lora_rank"), 32),
    **dict.fromkeys(("qk_rope_head_dim", "v_head_dim", "qk_nope_head_dim", "index_head_dim"), 16),
    **dict.fromkeys(
        ("num_attention_heads", "num_key_value_heads", "n_routed_experts", "index_topk", "index_n_heads"), 4
    ),
    **dict.fromkeys(("n_group", "topk_group", "first_k_dense_replace"), 1),
    "num_hidden_layers": 2,
    "num_experts_per_tok": 2,
}


def build(name, head="ForCausalLM", sizes=SIZES, **more):
    torch.manual_seed(0)
    model = getattr(transformers, name + head)(getattr(transformers, f"{name}Config")(**{**sizes, **more})).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1 or not parameter.any():
                parameter.normal_(0, 0.1)
    return model


def run(model, length=20):
    ids = torch.randint(3, 64, (2, length), generator=torch.Generator().manual_seed(1))
    more = {"decoder_input_ids": ids[:, :7]} if model.config.is_encoder_decoder else {}
    with torch.no_grad():
        return model(ids, **more).logits


def attentions(model):
    return {row.by: row.note for row in kt.patch(model).rows if row.what == "attention"}


def configs(model):
    return [copy.deepcopy(module.config.__dict__) for module in model.modules() if hasattr(module, "config")]


@pytest.mark.parametrize(
    ("name", "more"), [("GptOss", {"num_local_experts": 4}), ("GraniteSWA", {"sliding_window": 6})]
)
def test_sinks(name, more):
    """Of eager attention, whose weights don't sum to 1: from the softmax's sum, or as a factor afterwards."""
    model = build(name, **more)
    expected = run(model)
    assert attentions(model).keys() == {"attention"}
    torch.testing.assert_close(run(model), expected, atol=1e-4, rtol=1e-4)
    mine = sinks_gradients(model)
    kt.unpatch(model)
    torch.testing.assert_close(mine, sinks_gradients(model), atol=1e-5, rtol=1e-3)


def sinks_gradients(model):
    model.zero_grad()
    model(torch.arange(3, 23)[None]).logits.square().sum().backward()
    found = [parameter.grad.clone() for name, parameter in model.named_parameters() if name.endswith("sinks")]
    assert found
    return found


@pytest.mark.parametrize(
    ("name", "head"), [("PegasusX", "ForConditionalGeneration"), ("BigBirdPegasus", "ForConditionalGeneration")]
)
def test_models_without_sdpa(name, head):
    model = build(name, head, SEQ2SEQ)
    assert not model._supports_sdpa or name == "BigBirdPegasus"
    expected = run(model)
    assert "attention" in attentions(model)
    torch.testing.assert_close(run(model), expected, atol=1e-4, rtol=1e-4)


def test_sparse_attention_that_asks_for_the_implementation():
    model = build("DeepseekV32", sizes=SPARSE)
    expected = run(model)
    kt.patch(model)
    assert model.config._attn_implementation in ("eager", "sdpa")
    torch.testing.assert_close(run(model), expected, atol=1e-4, rtol=1e-4)


def test_a_soft_cap_with_dropout_in_training():
    model = build("Gemma2", attention_dropout=0.1)
    expected = run(model)
    assert attentions(model)["attention"] == "without dropout and output_attentions; else as before"
    torch.testing.assert_close(run(model), expected, atol=1e-4, rtol=1e-4)
    model.train()
    torch.manual_seed(1)
    found = run(model)
    kt.unpatch(model)
    torch.manual_seed(1)
    torch.testing.assert_close(found, run(model), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", ["Llama", "Gemma2"])
def test_weights_that_are_asked_for(name):
    model = build(name, attn_implementation="eager")
    ids, seen = torch.arange(3, 15)[None], []
    with torch.no_grad():
        expected = model(ids, output_attentions=True).attentions
        kt.patch(model)
        torch.testing.assert_close(model(ids, output_attentions=True).attentions, expected, atol=1e-5, rtol=1e-4)
        monkey = []
        ours = kt.functional.attention
        kt.functional.attention = lambda *given: (monkey.append(1), ours(*given))[1]
        try:
            model(ids)
        finally:
            kt.functional.attention = ours
        assert len(monkey) == 2, "without output_attentions the kernel computes again"
        model.model.layers[0].self_attn.register_forward_hook(lambda *call: seen.append(call[2][1]))
        model(ids)
    torch.testing.assert_close(seen, [expected[0]], atol=1e-5, rtol=1e-4)


def test_another_model_with_the_same_config_stays():
    config = transformers.LlamaConfig(**SIZES)
    one, other = transformers.LlamaForCausalLM(config), transformers.LlamaForCausalLM(config)
    expected, before = run(other), configs(other)
    kt.patch(one)
    assert configs(other) == before
    assert torch.equal(run(other), expected)


def test_a_part_then_the_whole_then_neither():
    model = build("Llama")
    expected, before, names = run(model), configs(model), [set(module.__dict__) for module in model.modules()]
    kt.patch(model.model)
    kt.patch(model)
    kt.patch(model.model.layers[0])
    assert configs(model) == before
    kt.unpatch(model)
    assert configs(model) == before
    assert [set(module.__dict__) for module in model.modules()] == names
    assert torch.equal(run(model), expected)


def test_the_configs_inside_a_config_stay():
    vision = {
        **HEADS,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 1,
        "image_size": 16,
        "patch_size": 8,
    }
    text = {**vision, **IDS}
    model = transformers.CLIPModel(
        transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=16)
    ).eval()
    call = {"input_ids": torch.arange(3, 12)[None], "pixel_values": torch.randn(1, 3, 16, 16)}
    with torch.no_grad():
        expected, before = model(**call).logits_per_image, configs(model)
        assert attentions(model) == {"attention": "without dropout; else torch's"}
        torch.testing.assert_close(model(**call).logits_per_image, expected, atol=1e-4, rtol=1e-4)
        assert configs(model) == before
        kt.unpatch(model)
        assert configs(model) == before


def test_another_implementation_set_afterwards_computes():
    model = build("Llama")
    kt.patch(model)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        assert len(model(torch.arange(3, 9)[None], output_attentions=True).attentions) == 2


def test_an_implementation_of_other_code_stays():
    model = build("Llama")
    transformers.AttentionInterface.register("of_other_code", transformers.AttentionInterface._global_mapping["sdpa"])
    try:
        model.set_attn_implementation("of_other_code")
        assert attentions(model)[""] == "its implementation is 'of_other_code': only sdpa and eager are replaced"
    finally:
        del transformers.AttentionInterface._global_mapping["of_other_code"]


def test_what_the_models_own_code_shows_is_not_replaced(monkeypatch):
    """The last proof is a run of the model: a kernel that gave something else wouldn't be put in."""
    model, right = build("Llama"), kt.functional.attention
    monkeypatch.setattr(kt.functional, "attention", lambda *given: right(*given) * 1.01)
    assert "computes something else: differs by 0.01 of its size" in attentions(model)[""]
    assert "forward" not in model.model.layers[0].self_attn.__dict__ or not run(model).isnan().any()


def test_the_run_is_longer_than_windows():
    """A window that the kernel didn't get would show: the run's tokens are more, and the model's own window stays."""
    model = build("Mistral", sliding_window=4096)
    seen = []
    ours = attention.functional.attention
    attention.functional.attention = lambda *given: (seen.append(given[6]), ours(*given))[1]
    try:
        kt.patch(model)
    finally:
        attention.functional.attention = ours
    masks = [mask for mask in seen if mask is not None]
    assert masks
    assert all(int(mask[0, 0, -1].sum()) <= trial._WINDOW for mask in masks[:1])
    assert model.config.sliding_window == 4096


def test_attention_under_autocast_has_their_dtype():
    model = build("Llama")
    model.model.layers[0].self_attn.register_forward_hook(lambda *call: dtypes.append(call[2][0].dtype))
    dtypes: list = []
    with torch.autocast("cpu", torch.bfloat16):
        expected = run(model)
        kt.patch(model)
        found = run(model)
    assert dtypes[0] == dtypes[1]
    assert (found - expected).abs().max() < 0.05 * expected.abs().max()


@pytest.mark.parametrize(
    "name", ["bert", "llama", "gemma2", "t5", "gpt_oss", "mimo_v2_flash", "granite_swa", "inkling2", "vjepa2"]
)
def test_which_eager_functions_are_attention(name):
    module = __import__(f"transformers.models.{name}.modeling_{name}", fromlist=["x"])
    why = attention.not_attention(module.eager_attention_forward)
    assert bool(why) == (name in ("inkling2", "vjepa2")), why
