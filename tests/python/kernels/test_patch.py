"""kernpack_kernels.torch.patch: what is replaced computes the same, what isn't says why, and all of it can be undone."""

from __future__ import annotations

import copy
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
import kernpack_kernels.torch as kt  # noqa: E402  (needs torch)


class OffsetRMSNorm(torch.nn.Module):
    """As Gemma's: the weight plus one."""

    offset = 1

    def __init__(self, size):
        super().__init__()
        self.eps = 1e-6
        self.weight = torch.nn.Parameter(0.1 * torch.randn(size))

    def forward(self, x):
        return torch.nn.functional.rms_norm(x, x.shape[-1:], self.offset + self.weight, self.eps)


class OtherRMSNorm(OffsetRMSNorm):
    """The same name ending, another formula."""

    offset = 2


class PromotingRMSNorm(OffsetRMSNorm):
    """As Hugging Face's Llama's: the result has the wider dtype of x and the weight."""

    def forward(self, x):
        return self.weight * torch.nn.functional.rms_norm(x.float(), x.shape[-1:], eps=self.eps).to(x.dtype)


class Gated(torch.nn.Module):
    def __init__(self, act):
        super().__init__()
        self.gate_proj, self.up_proj = torch.nn.Linear(32, 48), torch.nn.Linear(32, 48)
        self.down_proj, self.act_fn = torch.nn.Linear(48, 32), act

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


def small():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.LayerNorm(32),
        Gated(torch.nn.SiLU()),
        torch.nn.RMSNorm(32),
        torch.nn.GELU(),
        torch.nn.GELU("tanh"),
        torch.nn.LayerNorm(32, bias=False),
    )


def rows(patched):
    return {row.what: row for row in patched.rows}


def test_forward_and_gradients_stay_the_same():
    model, x = small(), torch.randn(2, 5, 32)
    plain = copy.deepcopy(model)
    patched = kt.patch(model)
    found = rows(patched)
    assert {what: (row.count, row.by) for what, row in found.items()} == {
        "LayerNorm": (2, "layer_norm"),
        "Gated": (1, "swiglu"),
        "RMSNorm": (1, "rms_norm"),
        "GELU": (2, "gelu"),
    }
    assert str(patched).splitlines()[0].split() == ["module", "count", "now"]
    y, z = model(x), plain(x)
    torch.testing.assert_close(y, z, atol=1e-5, rtol=1e-5)
    y.square().sum().backward(), z.square().sum().backward()
    for (name, a), b in zip(model.named_parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, atol=1e-4, rtol=1e-4, msg=name)
    assert model.state_dict().keys() == plain.state_dict().keys()


def test_it_is_the_kernels_that_compute(monkeypatch):
    model, called = small(), []
    for name in ("rms_norm", "layer_norm", "gelu", "swiglu"):
        ours = getattr(kt.functional, name)
        monkeypatch.setattr(kt.functional, name, lambda *a, _o=ours, _n=name: called.append(_n) or _o(*a))
    kt.patch(model)
    called.clear()
    model(torch.randn(1, 32))
    assert called == ["layer_norm", "swiglu", "rms_norm", "gelu", "gelu", "layer_norm"]
    kt.unpatch(model)
    called.clear()
    model(torch.randn(1, 32))
    assert called == []


def test_undone_and_done_again():
    model, x = small(), torch.randn(3, 32)
    before, names = model(x), [dict(m.__dict__) for m in model.modules()]
    kt.patch(model)
    first = str(kt.patch(model))
    assert str(kt.patch(model)) == first
    kt.unpatch(model)
    assert torch.equal(model(x), before)
    assert [m.__dict__.keys() for m in model.modules()] == [n.keys() for n in names]
    with pytest.raises(ValueError, match="unpatch: this Sequential isn't patched"):
        kt.unpatch(model)


def test_a_copy_computes_with_its_own_weights():
    model = torch.nn.Sequential(torch.nn.LayerNorm(8))
    kt.patch(model)
    other = copy.deepcopy(model)
    with torch.no_grad():
        other[0].weight.zero_()
    assert other(torch.randn(2, 8)).abs().max() == 0
    assert model(torch.randn(2, 8)).abs().max() > 0


def test_one_graph_when_compiled():
    model, x = small(), torch.randn(2, 32)
    expected = model(x)
    kt.patch(model)
    torch.testing.assert_close(torch.compile(model, fullgraph=True)(x), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("module", "note"),
    [
        (OtherRMSNorm(16), "computes something else: differs by"),
        (Gated(torch.nn.ReLU()), "its activation is none of silu, gelu, gelu_tanh"),
        (torch.nn.LayerNorm((2, 3)), "works over 2 dimensions, the kernel over the last one"),
        (torch.nn.LayerNorm(4, device="meta"), "is on meta"),
    ],
)
def test_what_is_left_says_why(module, note):
    row = rows(kt.patch(torch.nn.Sequential(module)))[type(module).__name__]
    assert row.by == ""
    assert note in row.note
    assert "as before" in str(kt.Patched((row,)))


def test_other_peoples_forward_stays():
    norm = torch.nn.LayerNorm(4)
    norm.forward = lambda x: x + 1
    assert "replaced by other code before" in str(kt.patch(torch.nn.Sequential(norm)))
    assert norm(torch.ones(4))[0] == 2


def test_what_a_call_does_not_fit_is_computed_as_before():
    norm = torch.nn.LayerNorm(8)
    kt.patch(norm)
    x = torch.randn(2, 8, device="meta")
    assert norm.to("meta")(x).device.type == "meta"


@pytest.mark.parametrize(
    "norm", [torch.nn.LayerNorm, torch.nn.RMSNorm, PromotingRMSNorm, OffsetRMSNorm], ids=lambda c: c.__name__
)
def test_autocast(norm, monkeypatch):
    """Activations of bf16 and weights of f32: the same dtypes and numbers as before, computed by the kernels."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), norm(32), torch.nn.GELU(), torch.nn.Linear(32, 16))
    plain, x, called = copy.deepcopy(model), torch.randn(3, 16), []
    kt.patch(model)
    for name in ("layer_norm", "rms_norm", "gelu"):
        ours = getattr(kt.functional, name)
        monkeypatch.setattr(kt.functional, name, lambda *a, _o=ours, _n=name: called.append(_n) or _o(*a))
    with torch.autocast("cpu", torch.bfloat16):
        found, expected = model[:2](x), plain[:2](x)
        assert found.dtype == expected.dtype
        torch.testing.assert_close(found, expected, atol=3e-2, rtol=3e-2)
        called.clear()
        y, z = model(x), plain(x)
    assert called == ["layer_norm" if norm is torch.nn.LayerNorm else "rms_norm", "gelu"]
    torch.testing.assert_close(y, z, atol=3e-2, rtol=3e-2)
    y.float().square().sum().backward(), z.float().square().sum().backward()
    for (name, a), b in zip(model.named_parameters(), plain.parameters(), strict=True):
        assert a.grad.dtype == b.grad.dtype == torch.float32
        assert (a.grad - b.grad).abs().max() <= 5e-2 * b.grad.abs().max(), name


@pytest.mark.parametrize("affine", [True, False])
def test_group_norm(affine):
    norm, x = torch.nn.GroupNorm(2, 8, affine=affine), torch.randn(3, 8, 4, 5)
    expected = norm(x)
    assert rows(kt.patch(norm))["GroupNorm"].by == "group_norm"
    torch.testing.assert_close(norm(x), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(norm(x.mT), torch.nn.functional.group_norm(x.mT, 2, norm.weight, norm.bias))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_rms_norms_own_eps(dtype):
    """It shows where x is small."""
    norm, x = torch.nn.RMSNorm(8, dtype=dtype), torch.full((2, 8), 1e-3, dtype=dtype)
    expected = norm(x)
    kt.patch(norm)
    torch.testing.assert_close(norm(x), expected)


@pytest.mark.parametrize(
    ("module", "by"),
    [
        (OffsetRMSNorm(32), "rms_norm"),
        (PromotingRMSNorm(32), "rms_norm"),
        (torch.nn.LayerNorm(32, elementwise_affine=False), "layer_norm"),
        (torch.nn.RMSNorm(32, elementwise_affine=False), "rms_norm"),
        (Gated(torch.nn.GELU()), "geglu"),
        (Gated(torch.nn.GELU("tanh")), "geglu"),
    ],
)
def test_more_of_what_is_replaced(module, by):
    x = torch.randn(2, 5, 32)
    expected = module(x)
    assert rows(kt.patch(module))[type(module).__name__].by == by
    torch.testing.assert_close(module(x), expected, atol=1e-5, rtol=1e-5)
    both = torch.randn(2, 5, 64)[..., ::2]  # strided
    kt.unpatch(module)
    expected = module(both)
    kt.patch(module)
    torch.testing.assert_close(module(both), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("call", [kt.patch, kt.unpatch])
def test_anything_else_is_refused(call):
    with pytest.raises(TypeError, match=rf"{call.__name__}: model: expected a torch.nn.Module, got dict"):
        call({})


def test_modules_are_torchs():
    torch.manual_seed(0)
    x = torch.randn(2, 3, 16)
    for ours, theirs in (
        (kt.nn.RMSNorm(16), torch.nn.RMSNorm(16, eps=1e-6)),
        (kt.nn.LayerNorm(16), torch.nn.LayerNorm(16)),
        (kt.nn.GELU("tanh"), torch.nn.GELU("tanh")),
    ):
        ours.load_state_dict(theirs.state_dict())
        torch.testing.assert_close(ours(x), theirs(x))
    gate, up = x.chunk(2, -1)
    torch.testing.assert_close(kt.nn.SwiGLU()(x), torch.nn.functional.silu(gate) * up)
    torch.testing.assert_close(kt.nn.GeGLU("tanh")(x), torch.nn.functional.gelu(gate, approximate="tanh") * up)
    torch.testing.assert_close(kt.functional.silu(gate), torch.nn.functional.silu(gate))
    torch.testing.assert_close(kt.functional.relu2(gate), torch.nn.functional.relu(gate).square())
    with pytest.raises(ValueError, match="form: expected one of Q4_0, Q4_1, Q8_0, got 'Q2_K'"):
        kt.nn.PackedLinear(torch.zeros(1, 34, dtype=torch.uint8), "Q2_K")


def test_packed_linear_is_the_blocks_product():
    gguf = pytest.importorskip("gguf", reason="gguf is not installed")
    kind = gguf.GGMLQuantizationType.Q8_0
    blocks = gguf.quants.quantize(torch.randn(24, 64).numpy(), kind)
    weight, x = torch.from_numpy(gguf.quants.dequantize(blocks, kind)), torch.randn(7, 64)
    layer = kt.nn.PackedLinear(torch.from_numpy(blocks), "Q8_0", torch.ones(24))
    torch.testing.assert_close(layer(x), x @ weight.T + 1, atol=0.2, rtol=0.02)


def test_attention_is_torchs():
    q, key, v = torch.randn(2, 6, 5, 16), torch.randn(2, 3, 5, 16), torch.randn(2, 3, 5, 16)
    for causal in (False, True):
        expected = torch.nn.functional.scaled_dot_product_attention(q, key, v, is_causal=causal, enable_gqa=True)
        torch.testing.assert_close(kt.functional.attention(q, key, v, causal), expected, atol=1e-5, rtol=1e-5)
    for mask in (torch.rand(5, 5) < 0.8, torch.randn(2, 1, 1, 5), torch.randn(6, 5, 5)):
        mask[..., 0] = True
        expected = torch.nn.functional.scaled_dot_product_attention(q, key, v, mask, enable_gqa=True)
        found = kt.functional.attention(q, key, v, attn_mask=mask)
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_cross_entropy_is_torchs():
    logits, target = torch.randn(3, 7, 20), torch.randint(0, 20, (3, 7))
    target[0, :3] = -100
    for reduction in ("mean", "sum", "none"):
        expected = torch.nn.functional.cross_entropy(logits.transpose(1, 2), target, reduction=reduction)
        torch.testing.assert_close(kt.functional.cross_entropy(logits, target, reduction=reduction), expected)
    with pytest.raises(ValueError, match="cross_entropy: reduction: expected mean, sum or none, got 'max'"):
        kt.functional.cross_entropy(logits, target, reduction="max")


def test_the_package_needs_no_framework():
    """Without torch, JAX and transformers it is imported and calls."""
    code = (
        "import sys\nfor name in ('torch', 'jax', 'transformers'): sys.modules[name] = None\n"
        "import kernpack_kernels, numpy as np\n"
        "assert kernpack_kernels.softmax(np.zeros((1, 2), np.float32))[0, 0] == 0.5\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
