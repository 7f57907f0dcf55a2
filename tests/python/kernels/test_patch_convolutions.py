"""kernpack_kernels.torch.patch on models with causal convolutions: the same logits, gradients and tokens."""

from __future__ import annotations

import copy
import functools

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
import kernpack_kernels.torch as kt  # noqa: E402  (needs torch)
from kernpack_kernels.torch import module_functions  # noqa: E402

SIZES = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "pad_token_id": 0, "eos_token_id": None}
STATE = {"state_size": 8}
MODELS = {
    "Mamba": ("MambaMixer", STATE),
    "FalconMamba": ("FalconMambaMixer", STATE),
    "Mamba2": ("Mamba2Mixer", {**STATE, "num_heads": 4, "head_dim": 16, "n_groups": 1, "chunk_size": 16}),
    "Lfm2": (
        "Lfm2ShortConv",
        {
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "intermediate_size": 64,
            "layer_types": ["conv", "full_attention"],
        },
    ),
}
FUNCTIONS = ("causal_conv1d_fn", "causal_conv1d_update")


def build(name):
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**SIZES, **MODELS[name][1])
    return getattr(transformers, f"{name}ForCausalLM")(config).eval()


@pytest.fixture
def ids():
    return torch.randint(1, 64, (2, 9), generator=torch.Generator().manual_seed(1))


def trained(model, ids):
    model.zero_grad(set_to_none=True)
    out = model(ids, labels=ids)
    out.loss.backward()
    return [out.logits.detach(), *(p.grad for p in model.parameters() if p.grad is not None)]


def replies(model, ids):
    options = {"max_new_tokens": 6, "do_sample": False, "attention_mask": torch.ones_like(ids)}
    return model.generate(ids, **options)


@pytest.mark.parametrize("name", MODELS)
def test_logits_gradients_and_tokens_stay(name, ids):
    model = build(name)
    before, answer = trained(model, ids), replies(model, ids)
    by = {row.what: row.by for row in kt.patch(model).rows}
    assert [by[f"{function} in {MODELS[name][0]}"] for function in FUNCTIONS] == ["causal_conv1d"] * 2
    for other in (model, copy.deepcopy(model)):
        for mine, theirs in zip(trained(other, ids), before, strict=True):
            torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=1e-3)
        assert torch.equal(replies(other, ids), answer)
    kt.unpatch(model)
    assert all(map(torch.equal, trained(model, ids), before))


def test_only_the_patched_model_calls_the_kernel(ids, monkeypatch):
    seen = []
    ours = module_functions.functional.causal_conv1d
    monkeypatch.setattr(
        module_functions.functional, "causal_conv1d", lambda *a, **k: (seen.append(1), ours(*a, **k))[1]
    )
    patched, plain = build("Mamba"), build("Mamba")
    kt.patch(patched)
    seen.clear()
    plain(ids)
    assert not seen
    patched(ids)
    assert len(seen) == 2  # a layer each


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_other_types_of_numbers(dtype, ids):
    model = build("Lfm2").to(dtype)
    with torch.no_grad():
        before = model(ids).logits
        kt.patch(model)
        room = 1e-9 if dtype == torch.float64 else 3e-2
        torch.testing.assert_close(model(ids).logits, before, atol=room, rtol=room)


def test_a_layer_compiles(ids):
    model = build("Lfm2")
    with torch.no_grad():
        before = model(ids).logits
        kt.patch(model)
        layer = model.model.layers[0].conv
        layer.forward = torch.compile(layer.forward, backend="aot_eager")
        torch.testing.assert_close(model(ids).logits, before, atol=1e-5, rtol=1e-4)


def test_functions_that_compute_something_else_are_left_alone():
    def backwards(x, weight, bias=None, activation=None, **kwargs):
        return x

    def step(x, state, weight, bias=None, activation=None):
        raise RuntimeError("not here")

    assert module_functions._differs("causal_conv1d_fn", backwards) == "computes something else"
    assert module_functions._differs("causal_conv1d_update", step) == "can't be tried: RuntimeError: not here"


def causal_conv1d_fn(x, weight, bias=None, activation=None):
    return module_functions.functional.causal_conv1d(x, weight, bias, activation=activation)


class Named(torch.nn.Module):
    def forward(self, x, weight):
        return causal_conv1d_fn(x, weight)


class Cached(Named):
    forward = functools.lru_cache(Named.forward)  # wraps it, and holds it in no cell


class Attribute(torch.nn.Module):
    def forward(self, x, weight):
        return self.causal_conv1d_update(x, weight)  # no global of this module


@pytest.mark.parametrize(
    ("layer", "rows"),
    [
        (Named(), [("causal_conv1d_fn in Named", "causal_conv1d", "")]),
        (Cached(), [("causal_conv1d_fn in Cached", "", "its forward is wrapped by other code")]),
        (Attribute(), []),
    ],
    ids=["plain", "wrapped", "attribute"],
)
def test_layers_that_cannot_be_rebuilt_are_left_alone(layer, rows):
    forwards = []
    assert list(module_functions.patch(layer, lambda *made: forwards.append(made))) == rows
    assert len(forwards) == sum(bool(by) for _, by, _ in rows)


def test_what_the_kernel_does_not_take_is_computed_as_before():
    given = []

    def theirs(*args, **kwargs):
        given.append((args, kwargs))

    ours, x, weight = module_functions._convolution(theirs), torch.zeros(1, 3, 5), torch.zeros(3, 4)
    ours(x, weight, None, "gelu")
    ours(x, weight.double())
    ours(x, weight, seq_idx=torch.zeros(1, 5))
    module_functions._step(theirs)(x, torch.zeros(1, 3, 2), weight)  # the state is too short
    assert len(given) == 4
