"""kernpack_kernels.torch.patch tries honestly: what only large numbers, train mode, bf16 or the code itself show isn't replaced,
and no trial can be noticed."""

from __future__ import annotations

import copy
import random

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
import kernpack_kernels.torch as kt  # noqa: E402  (needs torch)
from transformers.activations import ACT2FN  # noqa: E402  (needs torch)


def row(module):
    patched = kt.patch(module)
    return next(row for row in patched.rows if row.what == type(module).__name__)


class Gated(torch.nn.Module):
    def __init__(self, act=None):
        super().__init__()
        self.gate_proj, self.up_proj = torch.nn.Linear(32, 48), torch.nn.Linear(32, 48)
        self.down_proj, self.act_fn = torch.nn.Linear(48, 32), act or torch.nn.SiLU()
        self.limit, self.p = 1e6, 0.5

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class Limited(Gated):
    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x).clamp(max=self.limit))


class Noisy(Gated):
    """Its dropout isn't before down_proj."""

    def forward(self, x):
        return torch.nn.functional.dropout(super().forward(x), self.p, self.training)


class DropsAfter(Gated):
    def __init__(self):
        super().__init__()
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x)))


class Branching(Gated):
    def forward(self, x):
        y = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))
        return y if len(x) < 100 else -y


class OfZeros(Gated):
    """A trial with these weights would see zeros only."""

    def __init__(self):
        super().__init__()
        torch.nn.init.zeros_(self.down_proj.weight)

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * (self.up_proj(x) + 1))


@pytest.mark.parametrize("made", [Limited, Noisy, DropsAfter, Branching, OfZeros])
def test_gated_mlps_that_do_more_are_left_alone(made):
    torch.manual_seed(0)
    module, x = made(), torch.randn(128, 32) * 1e8
    with torch.random.fork_rng():
        expected = module(x)
    found = row(module)
    assert found.by == ""
    assert found.note
    assert torch.equal(module(x), expected)


def test_a_limit_of_an_activation_is_seen():
    """gelu_10 is gelu between -10 and 10."""
    module, x = torch.nn.Sequential(copy.deepcopy(ACT2FN["gelu_10"])), torch.tensor([1.0, 20.0, 50.0])
    expected = module(x)
    kt.patch(module)
    assert torch.equal(module(x), expected)


def test_an_activation_with_a_limit_beyond_the_trial_is_left_alone():
    module = transformers.activations.ClippedGELUActivation(-1e5, 1e5)
    assert "its code uses clip" in row(module).note
    assert row(Gated(lambda x: torch.nn.functional.silu(x).clamp(max=1e5))).by == ""


@pytest.mark.parametrize("limits", [[0.0], [16.0]])
def test_swiglu_limits(limits):
    """Step3p7's layers have a limit, or one of infinity, which is none."""
    from transformers.models.step3p7.modeling_step3p7 import Step3p7MLP

    sizes = {"hidden_size": 32, "intermediate_size": 48, "swiglu_limits_shared": limits}
    config = transformers.Step3p7TextConfig(**sizes, num_hidden_layers=1)
    module, x = Step3p7MLP(config, 0), torch.randn(4, 32) * 1e4
    expected = module(x)
    assert row(module).by == ("swiglu" if limits == [0.0] else "")
    torch.testing.assert_close(module(x), expected)


def test_the_limit_of_deepseek_v4s_shared_experts():
    from transformers.models.deepseek_v4.modeling_deepseek_v4 import DeepseekV4MLP

    module = DeepseekV4MLP(
        transformers.DeepseekV4Config(hidden_size=64, intermediate_size=96, moe_intermediate_size=96)
    )
    x = torch.randn(6, 64) * 1e3
    expected = module(x)
    assert "clamp" in row(module).note
    assert torch.equal(module(x), expected)


def test_dropout_stays_in_training():
    from transformers.models.t5gemma.modeling_t5gemma import T5GemmaMLP

    config = transformers.T5GemmaModuleConfig(hidden_size=32, intermediate_size=64, dropout_rate=0.5)
    module, x = T5GemmaMLP(config).train(), torch.randn(2, 3, 32)
    torch.manual_seed(1)
    expected = module(x)
    assert row(module).by == "geglu"
    torch.manual_seed(1)
    torch.testing.assert_close(module(x), expected, atol=1e-5, rtol=1e-4)
    module.dropout.p = 1.0
    assert not module(x).any()


def test_one_plus_the_weight_is_added_in_f32():
    from transformers.models.gemma.modeling_gemma import GemmaRMSNorm

    torch.manual_seed(0)
    norm = GemmaRMSNorm(256)
    torch.nn.init.normal_(norm.weight, std=0.1)
    norm, x = norm.bfloat16(), torch.randn(64, 256).bfloat16()
    exact = copy.deepcopy(norm).double()(x.double())
    theirs = (norm(x).double() - exact).norm()
    assert row(norm).by == "rms_norm"
    assert (norm(x).double() - exact).norm() < 1.05 * theirs


class Swapping(torch.nn.Module):
    """A norm whose weight is one of zeros so far, and that adds 3 to it."""

    def __init__(self):
        super().__init__()
        self.eps, self.weight = 1e-6, torch.nn.Parameter(torch.full((16,), -3.0))

    def forward(self, x):
        return torch.nn.functional.rms_norm(x, x.shape[-1:], self.weight + 3, self.eps)


Swapping.__name__ = "SwappingRMSNorm"


class LargeRMSNorm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.eps, self.weight = 1e-6, torch.nn.Parameter(torch.ones(16))

    def forward(self, x):
        return torch.nn.functional.rms_norm(x, x.shape[-1:], self.weight, self.eps) if x.norm() < 1e6 else x


@pytest.mark.parametrize("made", [Swapping, LargeRMSNorm])
def test_norms_that_a_trial_on_their_weights_would_confuse(made):
    assert row(made()).by == ""


def test_a_norms_eps_may_change():
    norm, x = torch.nn.LayerNorm(8), torch.randn(2, 8)
    kt.patch(norm)
    norm.eps = 1.0
    torch.testing.assert_close(norm(x), torch.nn.functional.layer_norm(x, (8,), norm.weight, norm.bias, 1.0))


# --- what a trial leaves


@pytest.mark.parametrize("when", ["before", "after"])
def test_hooks_of_an_activation_run_in_calls_only(when):
    module, seen = Gated(), []

    def hook():
        module.act_fn.register_forward_hook(lambda *call: seen.append(call[2].shape))

    if when == "before":
        hook()
    assert row(module).by == "swiglu"
    if when == "after":
        hook()
    assert seen == []
    module(torch.ones(2, 32))
    assert seen == [(2, 48)]


def test_no_hook_runs_in_a_trial():
    module, seen = torch.nn.Sequential(Gated(), torch.nn.LayerNorm(32), torch.nn.GELU()), []
    for each in module.modules():
        each.register_forward_hook(lambda *call: seen.append("hook"))
        each.register_forward_pre_hook(lambda *call: seen.append("pre-hook"))
    everywhere = torch.nn.modules.module.register_module_forward_hook(lambda *call: seen.append("of all"))
    try:
        kt.patch(module)
        assert seen == []
        module(torch.ones(2, 32))
        assert seen.count("hook") == seen.count("pre-hook") == 8
        assert seen.count("of all") == 8
    finally:
        everywhere.remove()


def test_a_forward_of_other_code_does_not_run_in_a_trial():
    """As accelerate's, which holds the module that it was set on."""
    config = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=2, vocab_size=64
    )
    model, seen = transformers.LlamaForCausalLM(config), []
    own = model.forward
    model.forward = lambda *given, **options: (seen.append(1), own(*given, **options))[1]
    patched = kt.patch(model)
    assert seen == []
    assert "attention" in {row.by for row in patched.rows}
    model(torch.ones(1, 3, dtype=torch.long))
    assert seen == [1]


def test_another_activation_put_in_afterwards_computes():
    module, x = Gated(), torch.randn(3, 32)
    kt.patch(module)
    module.act_fn = torch.nn.ReLU()
    expected = module.down_proj(torch.relu(module.gate_proj(x)) * module.up_proj(x))
    torch.testing.assert_close(module(x), expected)


def test_modes_random_numbers_and_buffers_stay():
    config = transformers.LlamaConfig(
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        vocab_size=64,
        attention_dropout=0.1,
    )
    model = transformers.LlamaForCausalLM(config).train()
    model.model.layers[0].eval()
    modes = [module.training for module in model.modules()]
    buffers = [buffer.clone() for buffer in model.buffers()]
    states = torch.get_rng_state(), random.getstate()
    kt.patch(model)
    assert [module.training for module in model.modules()] == modes
    assert all(map(torch.equal, model.buffers(), buffers))
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]
    assert all(parameter.grad is None for parameter in model.parameters())
