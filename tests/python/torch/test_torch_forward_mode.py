"""Forward mode: KP_JVP where an author declares it, and an error that names the op where not."""

from __future__ import annotations

import kernpack
import pytest
import torch
from torch.autograd import forward_ad
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap

SOURCE = r"""
template <class F> void each(kp::MutTensorView out, F f) {
  for (int64_t i = 0; i < out.numel(); ++i) out.data_ptr<double>()[i] = f(i);
}
#define P(name) const double* name##_ = name.data_ptr<double>()
void cube(kp::TensorView x, kp::MutTensorView out) { P(x); each(out, [&](auto i) { return x_[i] * x_[i] * x_[i]; }); }
void cube_backward(kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_x) {
  P(d_out); P(x);
  each(d_x, [&](auto i) { return d_out_[i] * 3 * x_[i] * x_[i]; });
}
void cube_second(kp::TensorView d_d_x, kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_d_out, kp::MutTensorView d_x) {
  P(d_d_x); P(d_out); P(x);
  each(d_d_out, [&](auto i) { return d_d_x_[i] * 3 * x_[i] * x_[i]; });
  each(d_x, [&](auto i) { return d_d_x_[i] * d_out_[i] * 6 * x_[i]; });
}
void cube_jvp(kp::TensorView x, kp::TensorView t_x, kp::MutTensorView t_out) { cube_backward(t_x, x, t_out); }
void cube_jvp_backward(kp::TensorView d_t_out, kp::TensorView x, kp::TensorView t_x, kp::MutTensorView d_x,
                       kp::MutTensorView d_t_x) {
  cube_second(d_t_out, t_x, x, d_t_x, d_x);
}
void cube_backward_jvp(kp::TensorView d_out, kp::TensorView x, std::optional<kp::TensorView> t_d_out,
                       std::optional<kp::TensorView> t_x, kp::MutTensorView t_d_x) {
  P(d_out); P(x);
  each(t_d_x, [&](auto i) {
    return (t_d_out ? t_d_out->data_ptr<double>()[i] * 3 * x_[i] * x_[i] : 0) +
           (t_x ? d_out_[i] * 6 * x_[i] * t_x->data_ptr<double>()[i] : 0);
  });
}
void square(kp::TensorView x, kp::MutTensorView out, kp::MutTensorView twice) {
  P(x);
  each(out, [&](auto i) { return x_[i] * x_[i]; });
  each(twice, [&](auto i) { return 2 * x_[i]; });
}
void square_backward(kp::TensorView d_out, kp::TensorView twice, kp::MutTensorView d_x) {
  P(d_out); P(twice);
  each(d_x, [&](auto i) { return d_out_[i] * twice_[i]; });
}
void square_jvp(kp::TensorView twice, kp::TensorView t_x, kp::MutTensorView t_out) { square_backward(t_x, twice, t_out); }
void mix(kp::ListView<kp::TensorView> xs, kp::TensorView by, kp::MutTensorView out) {
  P(by);
  each(out, [&](auto i) {
    double sum = 0;
    for (kp::TensorView x : xs) sum += x.data_ptr<double>()[i];
    return sum * by_[i];
  });
}
void mix_jvp(kp::TensorView by, kp::ListView<kp::TensorView> t_xs, kp::MutTensorView t_out) { mix(t_xs, by, t_out); }
void plain(kp::TensorView x, kp::MutTensorView out) { cube(x, out); }
KP_GRAD(cube, cube_backward);
KP_GRAD(cube_backward, cube_second);
KP_GRAD(cube_jvp, cube_jvp_backward);
KP_GRAD(square, square_backward);
KP_JVP(cube, cube_jvp);
KP_JVP(cube_backward, cube_backward_jvp);
KP_JVP(square, square_jvp);
KP_JVP(mix, mix_jvp);
"""
T = "f64[...]"
FUNCTIONS = {
    "cube": f"(x: {T}) -> (out: {T})",
    "cube_backward": f"(d_out: {T}, x: {T}) -> (d_x: {T})",
    "cube_second": f"(d_d_x: {T}, d_out: {T}, x: {T}) -> (d_d_out: {T}, d_x: {T})",
    "cube_jvp": f"(x: {T}, t_x: {T}) -> (t_out: {T})",
    "cube_jvp_backward": f"(d_t_out: {T}, x: {T}, t_x: {T}) -> (d_x: {T}, d_t_x: {T})",
    "cube_backward_jvp": f"(d_out: {T}, x: {T}, t_d_out: {T}?, t_x: {T}?) -> (t_d_x: {T})",
    "square": f"(x: {T}) -> (out: {T}, twice: {T} aux)",
    "square_backward": f"(d_out: {T}, twice: {T}) -> (d_x: {T})",
    "square_jvp": f"(twice: {T}, t_x: {T}) -> (t_out: {T})",
    "mix": f"(xs: list[{T}], by: {T}) -> (out: {T}) with nondiff(by)",
    "mix_jvp": f"(by: {T}, t_xs: list[{T}]) -> (t_out: {T})",
    "plain": f"(x: {T}) -> (out: {T})",
}


@pytest.fixture(scope="module")
def j() -> kernpack.Module:
    return kernpack.load_inline(SOURCE, FUNCTIONS, name="torch_jvp")


@pytest.fixture(params=["call", "operator"])
def cube(request, j):
    return j.cube if request.param == "call" else torch.ops.kernpack_torch_jvp.cube.default


X = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
V = torch.tensor([2.0, 1.0, -1.0], dtype=torch.float64)


def test_jvp_and_jacfwd(cube):
    out, tangent = jvp(cube, (X,), (V,))
    torch.testing.assert_close(out, X**3)
    torch.testing.assert_close(tangent, 3 * X * X * V)
    torch.testing.assert_close(jacfwd(cube)(X), torch.diag(3 * X * X))
    rows = torch.stack([X, V])
    torch.testing.assert_close(vmap(lambda x: jvp(cube, (x,), (V,))[1])(rows), 3 * rows * rows * V)
    torch.testing.assert_close(jvp(vmap(cube), (rows,), (rows,))[1], 3 * rows**3)


def test_dual_tensors(cube):
    with forward_ad.dual_level():
        out, tangent = forward_ad.unpack_dual(cube(forward_ad.make_dual(X, V)))
    torch.testing.assert_close(out, X**3)
    torch.testing.assert_close(tangent, 3 * X * X * V)


def test_checked_by_torch(cube):
    x = X.clone().requires_grad_()
    assert torch.autograd.gradcheck(cube, (x,), check_forward_ad=True, check_batched_forward_grad=True)
    assert torch.autograd.gradgradcheck(cube, (x,), check_fwd_over_rev=True, check_rev_over_rev=True)


@pytest.mark.parametrize("second", [hessian, lambda f: jacrev(jacfwd(f)), lambda f: jacrev(jacrev(f))])
def test_second_order(cube, second):
    torch.testing.assert_close(second(lambda x: cube(x).sum())(X), torch.diag(6 * X))


def test_hessian_vector_products(cube):
    torch.testing.assert_close(jvp(grad(lambda x: cube(x).sum()), (X,), (V,))[1], 6 * X * V)
    torch.testing.assert_close(grad(lambda x: jvp(cube, (x,), (V,))[1].sum())(X), 6 * X * V)


def test_forward_over_forward_wants_the_tangent_ops_own(cube):
    with pytest.raises(RuntimeError, match=r"^cube_jvp: an argument carries a tangent.*KP_JVP\(cube_jvp, "):
        jacfwd(jacfwd(cube))(X)


def test_compile_reads_forward_mode(cube):
    torch._dynamo.reset()
    step = torch.compile(lambda x, v: jvp(lambda u: cube(u), (x,), (v,))[1], fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(step(X, V), 3 * X * X * V)


def test_results_that_the_caller_does_not_see(j):
    torch.testing.assert_close(jvp(j.square, (X,), (V,))[1], 2 * X * V)
    torch.testing.assert_close(grad(lambda x: j.square(x).sum())(X), 2 * X)
    with pytest.raises(RuntimeError, match=r"^square: its backward op takes the aux result twice, whose tangent"):
        hessian(lambda x: j.square(x).sum())(X)


def test_lists_and_what_nothing_flows_from(j):
    found = jvp(lambda a: j.mix([a, V, a], X), (V,), (X,))[1]
    torch.testing.assert_close(found, 2 * X * X)
    with pytest.raises(RuntimeError, match=r"^mix: by: carries a tangent, but torch_jvp declares that nothing flows"):
        jvp(lambda a: j.mix([X], a), (V,), (X,))
    torch.testing.assert_close(jvp(lambda a: j.mix([a], a.detach()), (V,), (X,))[1], X * V)


def test_without_a_declaration(j):
    message = (
        r"^plain: an argument carries a tangent, but torch_jvp declares no forward mode for plain .*KP_JVP\(plain, "
    )
    for op in (j.plain, torch.ops.kernpack_torch_jvp.plain, torch.ops.kernpack_torch_jvp.plain.default):
        with pytest.raises(RuntimeError, match=message):
            jvp(op, (X,), (V,))
        with forward_ad.dual_level(), torch.no_grad(), pytest.raises(RuntimeError, match=message):
            op(forward_ad.make_dual(X, V))
    with forward_ad.dual_level(), pytest.raises(RuntimeError, match="destinations cannot take part"):
        j.cube(forward_ad.make_dual(X, V), out=torch.empty_like(X))
