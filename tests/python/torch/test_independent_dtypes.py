"""Two dtype variables: a weight whose dtype doesn't depend on the activation's, as autocast makes them meet."""

from __future__ import annotations

from typing import Any

import kernpack
import numpy as np
import pytest
import torch
from support.optional import optional

jax, jnp = optional("jax"), optional("jax.numpy")
SOURCE = r"""
// f(a value of x's type, a value of the weight's)
template <class F>
static void both(kp::TensorView x, kp::TensorView weight, F f) {
  kp::dispatch<float, kp::bfloat16>(x.dtype(), [&](auto t) {
    kp::dispatch<float, kp::bfloat16>(weight.dtype(), [&](auto w) {
      f(typename decltype(t)::type(), typename decltype(w)::type());
    });
  });
}
void scale_rows(kp::TensorView x, kp::TensorView weight, kp::MutTensorView out) {
  both(x, weight, [&](auto t, auto w) {
    using T = decltype(t);
    using W = decltype(w);
    const int64_t width = weight.numel();
    for (int64_t i = 0; i < x.numel(); ++i) {
      out.data_ptr<T>()[i] = T(float(x.data_ptr<T>()[i]) * float(weight.data_ptr<W>()[i % width]));
    }
  });
}
void scale_rows_backward(kp::TensorView d_out, kp::TensorView x, kp::TensorView weight, kp::MutTensorView d_x,
                         kp::MutTensorView d_weight) {
  both(x, weight, [&](auto t, auto w) {
    using T = decltype(t);
    using W = decltype(w);
    const int64_t width = weight.numel();
    for (int64_t j = 0; j < width; ++j) {
      float sum = 0;
      for (int64_t i = j; i < x.numel(); i += width) {
        sum += float(d_out.data_ptr<T>()[i]) * float(x.data_ptr<T>()[i]);
        d_x.data_ptr<T>()[i] = T(float(d_out.data_ptr<T>()[i]) * float(weight.data_ptr<W>()[j]));
      }
      d_weight.data_ptr<W>()[j] = W(sum);
    }
  });
}
KP_GRAD(scale_rows, scale_rows_backward);
"""
TYPES = " where T in {f32, bf16}, W in {f32, bf16}"
FUNCTIONS = {
    "scale_rows": "(x: T[..., D], weight: W[D]) -> (out: T[..., D])" + TYPES,
    "scale_rows_backward": "(d_out: T[..., D] compact, x: T[..., D], weight: W[D]) -> (d_x: T[..., D], d_weight: W[D])"
    + TYPES,
}


@pytest.fixture(scope="module")
def k() -> Any:
    return kernpack.load_inline(SOURCE, FUNCTIONS, name="independent_dtypes")


def test_under_autocast(k: Any) -> None:
    x, matrix = torch.randn(4, 8), torch.randn(8, 8)
    weight = torch.randn(8, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hidden = x @ matrix
        out = k.scale_rows(hidden, weight)
    assert (hidden.dtype, weight.dtype, out.dtype) == (torch.bfloat16, torch.float32, torch.bfloat16)
    out.sum().backward()
    assert weight.grad is not None
    assert weight.grad.dtype == torch.float32
    torch.testing.assert_close(weight.grad, hidden.float().sum(0), rtol=1e-5, atol=1e-5)


def test_under_autocast_compiled(k: Any) -> None:
    weight, matrix = torch.randn(8, requires_grad=True), torch.randn(8, 8)

    @torch.compile(fullgraph=True, backend="aot_eager")
    def layer(x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return k.scale_rows(x @ matrix, weight)

    out = layer(torch.randn(2, 8))
    out.float().sum().backward()
    assert out.dtype == torch.bfloat16
    assert weight.grad is not None
    assert weight.grad.dtype == torch.float32


def test_each_dtype_is_bound_by_its_own_tensor(k: Any) -> None:
    half = torch.bfloat16
    for a, b in ((torch.float32, half), (half, torch.float32), (half, half)):
        assert k.scale_rows(torch.ones(2, 3, dtype=a), torch.full((3,), 2, dtype=b)).dtype == a
    with pytest.raises(TypeError, match=r"scale_rows: weight: expected dtype W in \{f32, bf16\}, got f64"):
        k.scale_rows(torch.ones(2, 3), torch.ones(3, dtype=torch.float64))


def test_jax_gradients_keep_the_weights_dtype(k: Any) -> None:
    x, weight = jnp.ones((2, 3), jnp.bfloat16), jnp.arange(3, dtype=jnp.float32)
    found = jax.grad(lambda w: k.scale_rows(x, w).astype(jnp.float32).sum())(weight)
    assert found.dtype == jnp.float32
    np.testing.assert_array_equal(found, [2, 2, 2])
