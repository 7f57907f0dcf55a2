"""Words of contracts that every evaluator reads: the C++ check, torch's fake results and JAX's tracing give the same shapes and errors."""

from __future__ import annotations

import inspect
from typing import Any

import kernpack
import numpy as np
import pytest
import torch
from support.optional import optional

jax, jnp = optional("jax"), optional("jax.numpy")
SOURCE = r"""
// Every stride[0]-th row, every stride[1]-th column.
void every(kp::TensorView x, kp::ListView<int64_t> stride, kp::MutTensorView out) {
  for (int64_t i = 0; i < out.size(0); ++i) {
    for (int64_t j = 0; j < out.size(1); ++j) {
      out.data_ptr<float>()[i * out.size(1) + j] = x.data_ptr<float>()[i * stride[0] * x.size(1) + j * stride[1]];
    }
  }
}
void exp_(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = std::exp(x.data_ptr<float>()[i]);
}
void times(kp::TensorView a, kp::TensorView b, kp::MutTensorView to) {
  for (int64_t i = 0; i < a.numel(); ++i) to.data_ptr<float>()[i] = a.data_ptr<float>()[i] * b.data_ptr<float>()[i];
}
void exp_second(kp::TensorView d_d_x, kp::TensorView d_out, kp::TensorView out, kp::MutTensorView d_d_out,
                kp::MutTensorView d_out_) {
  times(d_d_x, out, d_d_out);
  times(d_d_x, d_out, d_out_);
}
// Row i of the result is row index[i] of x.
void take(kp::TensorView x, kp::TensorView index, kp::MutTensorView out) {
  const int64_t d = x.size(1);
  for (int64_t i = 0; i < out.numel(); ++i)
    out.data_ptr<float>()[i] = x.data_ptr<float>()[index.data_ptr<int32_t>()[i / d] * d + i % d];
}
void take_backward(kp::TensorView d_out, kp::TensorView index, kp::ListView<int64_t> x_shape, kp::MutTensorView d_x) {
  KP_CHECK(x_shape.size() == 2 && x_shape[1] == d_out.size(1), ValueError) << "take_backward: not the shape of x";
  for (int64_t i = 0; i < d_x.numel(); ++i) d_x.data_ptr<float>()[i] = 0;
  const int64_t d = d_x.size(1);
  for (int64_t i = 0; i < d_out.numel(); ++i)
    d_x.data_ptr<float>()[index.data_ptr<int32_t>()[i / d] * d + i % d] += d_out.data_ptr<float>()[i];
}
void take_aux(kp::TensorView x, kp::TensorView index, kp::MutTensorView out, kp::MutTensorView) { take(x, index, out); }
KP_GRAD(take, take_backward);
KP_GRAD(take_aux, take_backward);
KP_GRAD(exp_, exp_backward);
KP_JVP(exp_, exp_jvp);
KP_GRAD(exp_backward, exp_second);
"""
FUNCTIONS = {
    "every": "(x: f32[H, W], stride: list[int] = [2, 2]) -> (out: f32[(H - 1) // stride[0] + 1, (W - 1) // stride[1] + 1]) "
    "where stride[0] > 0, stride[1] > 0",
    "take": "(x: f32[N, D], index: i32[E]) -> (out: f32[E, D])",
    "take_backward": "(d_out: f32[E, D], index: i32[E], x_shape: list[int]) -> (d_x: f32[x_shape[0], D])",
    "take_aux": "(x: f32[N, D], index: i32[E]) -> (out: f32[E, D], more: f32[] aux)",
    "exp_": "(x: f32[N]) -> (out: f32[N])",
    "exp_second": "(d_d_x: f32[N], d_out: f32[N], out: f32[N]) -> (d_d_out: f32[N], d_out_: f32[N])",
}
PRODUCTS = {
    "exp_backward": "(d_out: f32[N], out: f32[N]) -> (d_x: f32[N])",
    "exp_jvp": "(out: f32[N], t_x: f32[N]) -> (t_out: f32[N])",
}


@pytest.fixture(scope="module")
def k() -> kernpack.Module:
    source = SOURCE
    for name in PRODUCTS:
        source += f"void {name}(kp::TensorView a, kp::TensorView b, kp::MutTensorView to) {{ times(a, b, to); }}\n"
    return kernpack.load_inline(f"#include <cmath>\n{source}", FUNCTIONS | PRODUCTS, name="contract_words")


X = np.arange(35, dtype=np.float32).reshape(5, 7)


@pytest.mark.parametrize("stride", [[1, 1], [2, 3], [7, 1]])
def test_items_of_a_list_are_sizes(k: kernpack.Module, stride: list[int]) -> None:
    wanted = X[:: stride[0], :: stride[1]]
    np.testing.assert_array_equal(k.every(X, stride), wanted)
    np.testing.assert_array_equal(k.every(torch.from_numpy(X), stride), wanted)
    np.testing.assert_array_equal(jax.jit(lambda x: k.every(x, stride))(jnp.asarray(X)), wanted)


def test_a_traced_call_knows_their_shape(k: kernpack.Module) -> None:
    compiled = torch.compile(lambda x, stride: k.every(x, stride), fullgraph=True, dynamic=True, backend="eager")
    for stride in ([1, 1], [2, 3], [4, 4]):
        assert tuple(compiled(torch.from_numpy(X), stride).shape) == X[:: stride[0], :: stride[1]].shape
    assert k.every(torch.empty(5, 7, device="meta"), [2, 3]).shape == (3, 3)
    assert jax.eval_shape(lambda x: k.every(x, [2, 3]), jnp.asarray(X)).shape == (3, 3)
    symbols = jax.ShapeDtypeStruct(jax.export.symbolic_shape("h, w"), jnp.float32)
    exported = optional("kernpack.jax").export(jax.jit(lambda x: k.every(x, [2, 3])))(symbols)
    np.testing.assert_array_equal(exported.call(jnp.asarray(X)), X[::2, ::3])


@pytest.mark.parametrize(
    ("stride", "error"),
    [
        ([1], "every: stride: expected a list of at least 2 ints, got 1"),
        ([], "every: stride: expected a list of at least 2 ints, got 0"),
        ([0, 1], r"every: expected stride\[0\] > 0, got stride\[0\] = 0"),
        ([1, -1], r"every: expected stride\[1\] > 0, got stride\[1\] = -1"),
    ],
)
def test_a_list_that_does_not_fit_is_refused_by_all(k: kernpack.Module, stride: list[Any], error: str) -> None:
    arrays: list[Any] = [X, torch.from_numpy(X), torch.empty(5, 7, device="meta")]
    calls = [lambda x=x: k.every(x, stride) for x in arrays]
    calls += [lambda: k.every(jnp.asarray(X), stride), lambda: jax.eval_shape(lambda x: k.every(x, stride), X)]
    for call in calls:
        with pytest.raises((TypeError, ValueError), match=error):
            call()


def test_a_parameter_may_be_called_out(k: kernpack.Module) -> None:
    d = np.full(3, 2, np.float32)
    y = np.arange(3, dtype=np.float32)
    assert "out=None" in str(inspect.signature(k.exp_))
    assert str(inspect.signature(k.exp_backward)) == "(d_out, out)"
    for convert in (np.asarray, torch.from_numpy, jnp.asarray):
        a, b = convert(d), convert(y)
        for given in (k.exp_backward(a, b), k.exp_backward(a, out=b), k.exp_backward(out=b, d_out=a)):
            np.testing.assert_array_equal(given, 2 * y)
    with pytest.raises(TypeError, match="multiple values for argument 'out'"):
        k.exp_backward(d, y, out=y)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'out'"):
        k.exp_backward(d)
    to = torch.empty(3)
    torch.ops.kernpack_contract_words.exp_backward.out(torch.from_numpy(d), torch.from_numpy(y), d_x=to)
    np.testing.assert_array_equal(to, 2 * y)


def test_a_backward_op_takes_the_result_called_out(k: kernpack.Module) -> None:
    x = torch.linspace(-1, 1, 5, requires_grad=True)
    (first,) = torch.autograd.grad(k.exp_(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    torch.testing.assert_close(first, x.exp())
    torch.testing.assert_close(second, x.exp())
    x.grad = None
    torch.compile(lambda x: k.exp_(x).sum(), fullgraph=True, backend="aot_eager")(x).backward()
    torch.testing.assert_close(x.grad, x.detach().exp())
    back = torch.compile(lambda d, y: k.exp_backward(d, out=y), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(back(torch.ones(3), torch.arange(3.0)), torch.arange(3.0))
    array = jnp.linspace(-1, 1, 5)
    gradient = jax.grad(lambda x: k.exp_(x).sum())
    np.testing.assert_allclose(jax.jit(gradient)(array), jnp.exp(array), rtol=1e-6)
    np.testing.assert_allclose(jax.grad(lambda x: gradient(x).sum())(array), jnp.exp(array), rtol=1e-6)
    of_jax = jax.jvp(k.exp_, (array,), (array,))[1]
    of_torch = torch.func.jvp(k.exp_, (x.detach(),), (x.detach(),))[1]
    for tangent in (of_jax, of_torch):
        np.testing.assert_allclose(tangent, array * jnp.exp(array), rtol=1e-6, atol=1e-7)


INDEX = np.array([2, 0, 2], np.int32)
TAKEN = np.array([[1, 1], [0, 0], [2, 2], [0, 0]], np.float32)  # how often each row of a [4, 2] is


@pytest.mark.parametrize("name", ["take", "take_aux"])  # of one result, and of several: two ways through torch
def test_a_backward_op_may_take_a_shape_and_keep_nothing_of_the_tensor(k: kernpack.Module, name: str) -> None:
    take, index = k.functions[name], torch.from_numpy(INDEX)
    kept: list[tuple[int, ...]] = []
    x = torch.ones(4, 2, requires_grad=True)

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept.append(tuple(tensor.shape))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        y = take(x, index)
    assert (4, 2) not in kept
    y.sum().backward()
    np.testing.assert_array_equal(x.grad, TAKEN)
    compiled = torch.compile(lambda x: take(x * 1, index).sum(), fullgraph=True, dynamic=True, backend="aot_eager")
    for rows in (4, 6):
        x = torch.ones(rows, 2, requires_grad=True)
        compiled(x).backward()
        np.testing.assert_array_equal(x.grad[:4], TAKEN)
        assert x.grad.shape == x.shape
    array = jnp.ones((4, 2))
    gradient = jax.grad(lambda x: take(x, jnp.asarray(INDEX)).sum())
    np.testing.assert_array_equal(jax.jit(gradient)(array), TAKEN)
    np.testing.assert_array_equal(jax.vmap(gradient)(jnp.ones((3, 4, 2)))[2], TAKEN)
    batch = torch.func.vmap(torch.func.grad(lambda x: take(x, index).sum()))(torch.ones(3, 4, 2))
    np.testing.assert_array_equal(batch[2], TAKEN)
