"""The mark `compact`: callers pass any strides, and the kernel gets row-major memory, whoever calls."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import kernpack
import kernpack.torch
import numpy as np
import pytest
import torch
from support.host import INCLUDE
from support.optional import optional

jax, jnp = optional("jax"), optional("jax.numpy")
SOURCE = r"""
#include <cmath>

static float gelu(float x) { return 0.5f * x * (1 + std::erf(x * 0.70710678f)); }
static float slope(float x) {
  return 0.5f * (1 + std::erf(x * 0.70710678f)) + x * 0.39894228f * std::exp(-0.5f * x * x);
}
void geglu(kp::TensorView x, kp::TensorView gate, kp::MutTensorView out) {
  KP_CHECK(x.is_contiguous() && gate.is_contiguous(), RuntimeError) << "expected compact memory";
  const float *a = x.data_ptr<float>(), *b = gate.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = gelu(a[i]) * b[i];
}
void geglu_backward(kp::TensorView d_out, kp::TensorView x, kp::TensorView gate, kp::MutTensorView d_x, kp::MutTensorView d_gate) {
  const float *d = d_out.data_ptr<float>(), *a = x.data_ptr<float>(), *b = gate.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    d_x.data_ptr<float>()[i] = d[i] * slope(a[i]) * b[i];
    d_gate.data_ptr<float>()[i] = d[i] * gelu(a[i]);
  }
}
void join(kp::ListView<kp::TensorView> xs, std::optional<kp::TensorView> last, int64_t n, kp::MutTensorView out) {
  float* to = out.data_ptr<float>();
  for (const kp::TensorView x : xs) {
    for (int64_t i = 0; i < x.numel(); ++i) *to++ = x.data_ptr<float>()[i];
  }
  for (int64_t i = 0; last && i < last->numel(); ++i) *to++ = last->data_ptr<float>()[i];
  KP_CHECK(to == out.data_ptr<float>() + n, ValueError) << "n: expected the number of elements";
}
KP_GRAD(geglu, geglu_backward);
"""
FUNCTIONS = {
    "geglu": "(x: f32[..., D] compact, gate: f32[..., D] compact) -> (out: f32[..., D])",
    "geglu_backward": "(d_out: f32[..., D] compact, x: f32[..., D] compact, gate: f32[..., D] compact)"
    " -> (d_x: f32[..., D], d_gate: f32[..., D])",
    "join": "(xs: list[f32[_, _] compact], last: f32[_] compact? = None, *, n: int) -> (out: f32[n])",
}


@pytest.fixture(scope="module")
def k() -> Any:
    return kernpack.load_inline(SOURCE, FUNCTIONS, name="compact_marks")


def reference(both: torch.Tensor) -> torch.Tensor:
    """ModernBERT's: the halves that chunk gives lie in wider rows."""
    x, gate = both.chunk(2, -1)
    return torch.nn.functional.gelu(x) * gate


def halves(k: Any, both: torch.Tensor) -> torch.Tensor:
    x, gate = both.chunk(2, -1)
    assert not x.is_contiguous()
    return k.geglu(x, gate)


@pytest.fixture
def both() -> torch.Tensor:
    return torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(0))


def test_numpy_views_of_every_kind(k: Any) -> None:
    base = np.arange(48, dtype=np.float32).reshape(6, 8) / 10
    for view in (base.T, base[::2], base[:, ::-1], base[::-1, 1:4], np.broadcast_to(base[0], (3, 8)), base[:0], base):
        expected = k.geglu(view.copy(), view.copy())
        np.testing.assert_array_equal(k.geglu(view, view), expected)
        np.testing.assert_array_equal(k.geglu(view, view, out=np.empty(view.shape, np.float32)), expected)
    assert np.isfortran(base.T)


def test_lists_and_optional_tensors(k: Any) -> None:
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(10, 18, dtype=np.float32)
    expected = np.concatenate([a.T.ravel(), a.ravel(), b[::2]])
    np.testing.assert_array_equal(k.join([a.T, a], b[::2], n=16), expected)
    np.testing.assert_array_equal(k.join([], n=0), np.empty(0, np.float32))


def test_own_tensors(k: Any) -> None:
    base = np.arange(12, dtype=np.float32).reshape(3, 4)
    mine = kernpack.from_dlpack(base.T)
    np.testing.assert_array_equal(k.geglu(mine, mine).numpy(), k.geglu(base.T, base.T))


def test_what_comes_is_never_written(k: Any) -> None:
    base = np.arange(12, dtype=np.float32).reshape(3, 4)
    base.flags.writeable = False
    k.geglu(base.T, base.T)
    np.testing.assert_array_equal(base.ravel(), np.arange(12))


def test_torch_eager_and_autograd(k: Any, both: torch.Tensor) -> None:
    torch.testing.assert_close(halves(k, both), reference(both))
    mine, its = both.clone().requires_grad_(), both.clone().requires_grad_()
    # The gradient that arrives is strided too.
    halves(k, mine).transpose(0, 1).contiguous().square().sum().backward()
    reference(its).square().sum().backward()
    torch.testing.assert_close(mine.grad, its.grad)


def test_torch_compile(k: Any, both: torch.Tensor) -> None:
    compiled = torch.compile(lambda t: halves(k, t * 2), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(both), reference(both * 2))
    leaf = both.clone().requires_grad_()
    compiled(leaf).sum().backward()
    assert leaf.grad is not None


def test_torch_vmap(k: Any, both: torch.Tensor) -> None:
    x, gate = both.chunk(2, -1)
    found = torch.func.vmap(k.geglu, in_dims=(2, 2))(x, gate)
    torch.testing.assert_close(found, reference(both).permute(2, 0, 1))


def test_operator_check(k: Any, both: torch.Tensor) -> None:
    namespace = getattr(torch.ops, kernpack.torch.ops(k).namespace)
    x, gate = both.chunk(2, -1)
    torch.library.opcheck(namespace.geglu.default, (x.requires_grad_(), gate.requires_grad_()))


def test_jax_hands_compact_copies_to_the_kernel(k: Any, both: torch.Tensor) -> None:
    values = jnp.asarray(both.numpy())

    def f(t):
        return k.geglu(*jnp.split(t, 2, -1))

    np.testing.assert_allclose(jax.jit(f)(values), reference(both).numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        jax.vmap(f, in_axes=1)(values), reference(both).numpy().swapaxes(0, 1), rtol=1e-5, atol=1e-6
    )
    assert jax.grad(lambda t: f(t).sum())(values).shape == values.shape


def test_calls_while_they_are_checked(k: Any, both: torch.Tensor) -> None:
    with kernpack.checking(trace=False):
        torch.testing.assert_close(halves(k, both), reference(both))


def test_the_contract_says_so(k: Any) -> None:
    described = k.functions["geglu"].typed["params"][0]
    assert described["compact"]
    assert described["strided"]
    with pytest.raises(ValueError, match=r"geglu: gate: expected shape"):
        k.geglu(np.ones((2, 3), np.float32), np.ones((2, 4), np.float32).T)


@pytest.mark.parametrize(
    ("contract", "words"),
    [
        ("(x!: f32[N] compact) -> ()", r"what is written in place \('!'\) is never copied"),
        ("(x: f32[N] strided compact) -> ()", r"'strided' .* or 'compact' .*, not both"),
        ("(x: f32[N]) -> (y: f32[N] compact)", "expected"),
    ],
)
def test_what_cannot_be_compact(contract: str, words: str) -> None:
    with pytest.raises(Exception, match=words):
        kernpack.load_inline("void f(kp::TensorView, kp::MutTensorView) {}", {"f": contract}, name="not_compact")


IN_C = """
#include <kernpack/abi.h>
static int f(void* self, const KpAny* args, int32_t n, KpAny* result) { (void)self; (void)args; (void)n; (void)result; return 0; }
static const KpFunctionInfo bare = {.struct_size = sizeof(KpFunctionInfo), .signature = "(x: f32[N] compact) -> ()"};
static const KpFunctionInfo plain = {.struct_size = sizeof(KpFunctionInfo), .signature = "(x: f32[N]) -> ()"};
static const KpFunctionDef functions[] = {{"bare", f, &bare}, {"plain", f, &plain}};
static const KpModule module = {.struct_size = sizeof(KpModule), .abi_version = KP_ABI_VERSION, .min_host_abi = KP_ABI_VERSION,
  .name = "compact_in_c", .version = "1.0.0", .sdk_version = "test", .functions = functions, .functions_end = functions + 2};
__attribute__((visibility("default"))) const KpModule* kp_module_v1(void) { return &module; }
"""


def test_a_function_without_the_copying_code_is_refused(tmp_path: Path) -> None:
    """In C nothing stands before the kernel: it would read strided memory as if it were compact."""
    source, library = tmp_path / "m.c", tmp_path / "compact_in_c.so"
    source.write_text(IN_C)
    subprocess.run(["gcc", "-shared", "-fPIC", f"-I{INCLUDE}", source, "-o", library], check=True)
    module = kernpack.load(str(library))
    module.plain(np.ones(3, np.float32))
    with pytest.raises(ValueError, match=r"bare: signature: x is marked 'compact', but .* KP_EXPORT"):
        module.bare(np.ones(3, np.float32))
