// Kernels with declared tangents for the JAX tests: each shows one rule of KP_JVP.
#include <kernpack/kernel.h>

#include <algorithm>
#include <cmath>
#include <complex>

namespace kp = kernpack;

namespace {

using Tensor = kp::TensorView;
using Result = kp::MutTensorView;
using Maybe = std::optional<kp::TensorView>;

// to += factor * a * b, b repeated over the last dims.
void AddProduct(Tensor a, Tensor b, double factor, Result to) {
  for (int64_t i = 0; i < a.numel(); ++i) {
    to.data_ptr<double>()[i] += factor * a.data_ptr<double>()[i] * b.data_ptr<double>()[i % b.numel()];
  }
}
void Clear(Result x) { std::fill_n(x.data_ptr<double>(), x.numel(), 0.0); }
void Product(Tensor a, Tensor b, double factor, Result to) {
  Clear(to);
  AddProduct(a, b, factor, to);
}
// to[i % n] += a[i] * b[i].
void AddRows(Tensor a, Tensor b, double factor, Result to) {
  for (int64_t i = 0; i < a.numel(); ++i) {
    to.data_ptr<double>()[i % to.numel()] += factor * a.data_ptr<double>()[i] * b.data_ptr<double>()[i];
  }
}

// out = x * w over the last dimension. A tangent that is None is a zero.
int64_t g_nones = 0;
int64_t Nones() { return g_nones; }
void Scale(Tensor x, Tensor w, Result out) { Product(x, w, 1, out); }
void ScaleJvp(Tensor x, Tensor w, Tensor t_x, Maybe t_w, Result t_out) {
  Product(t_x, w, 1, t_out);
  g_nones += !t_w;
  if (t_w) AddProduct(x, *t_w, 1, t_out);
}
void ScaleBackward(Tensor d_out, Tensor x, Tensor w, Result d_x, Result d_w) {
  Product(d_out, w, 1, d_x);
  Clear(d_w);
  AddRows(d_out, x, 1, d_w);
}
void ScaleBackwardJvp(Tensor d_out, Tensor x, Tensor w, Maybe t_d_out, Maybe t_x, Maybe t_w, Result t_d_x,
                      Result t_d_w) {
  Clear(t_d_x);
  Clear(t_d_w);
  if (t_d_out) AddProduct(*t_d_out, w, 1, t_d_x);
  if (t_d_out) AddRows(*t_d_out, x, 1, t_d_w);
  if (t_w) AddProduct(d_out, *t_w, 1, t_d_x);
  if (t_x) AddRows(d_out, *t_x, 1, t_d_w);
}
// The gradients of scale_jvp, for reverse over forward; of t_w too.
void ScaleJvpBackward(Tensor d_t_out, Tensor x, Tensor w, Tensor t_x, Maybe t_w, Result d_x, Result d_w, Result d_t_x,
                      Result d_t_w) {
  Clear(d_x);
  if (t_w) AddProduct(d_t_out, *t_w, 1, d_x);
  Clear(d_w);
  AddRows(d_t_out, t_x, 1, d_w);
  Product(d_t_out, w, 1, d_t_x);
  Clear(d_t_w);
  AddRows(d_t_out, x, 1, d_t_w);
}

// out = factor * x * x; `twice`, an aux result, has no tangent here, and `count` none at all.
void Square(Tensor x, double factor, Result out, Result count, Result twice) {
  count.data_ptr<int32_t>()[0] = static_cast<int32_t>(x.numel());
  Product(x, x, factor, out);
  for (int64_t i = 0; i < x.numel(); ++i) twice.data_ptr<double>()[i] = 2 * x.data_ptr<double>()[i];
}
void SquareJvp(Tensor t_x, Tensor twice, double factor, Result t_out) { Product(t_x, twice, factor, t_out); }
// The tangent of a product that is linear in each of d_out and twice.
void SquareBackwardJvp(Tensor d_out, Tensor twice, Maybe t_d_out, Maybe t_twice, double factor, Result t_d_x) {
  Clear(t_d_x);
  if (t_d_out) AddProduct(*t_d_out, twice, factor, t_d_x);
  if (t_twice) AddProduct(d_out, *t_twice, factor, t_d_x);
}

// out = x * x; `twice` has a tangent, so that the second order is there.
void Squared(Tensor x, Result out, Result twice) {
  Product(x, x, 1, out);
  for (int64_t i = 0; i < x.numel(); ++i) twice.data_ptr<double>()[i] = 2 * x.data_ptr<double>()[i];
}
void SquaredJvp(Tensor t_x, Tensor twice, Result t_out, Result t_twice) {
  Product(t_x, twice, 1, t_out);
  for (int64_t i = 0; i < t_x.numel(); ++i) t_twice.data_ptr<double>()[i] = 2 * t_x.data_ptr<double>()[i];
}
void SquaredBackward(Tensor d_out, Tensor twice, Result d_x) { Product(d_out, twice, 1, d_x); }
void SquaredBackwardJvp(Tensor d_out, Tensor twice, Maybe t_d_out, Maybe t_twice, Result t_d_x) {
  SquareBackwardJvp(d_out, twice, t_d_out, t_twice, 1, t_d_x);
}

// out = x * x * x. Its backward function has neither a gradient nor a tangent.
void Cubed(Tensor x, Result out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<double>()[i] = std::pow(x.data_ptr<double>()[i], 3);
}
void CubedJvp(Tensor x, Tensor t_x, Result t_out) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    t_out.data_ptr<double>()[i] = 3 * std::pow(x.data_ptr<double>()[i], 2) * t_x.data_ptr<double>()[i];
  }
}

// out = factor * a * b over complex numbers.
void ComplexProduct(Tensor a, Tensor b, double factor, Result out) {
  using C = std::complex<double>;
  for (int64_t i = 0; i < a.numel(); ++i) {
    static_cast<C*>(out.data_ptr())[i] =
        factor * static_cast<const C*>(a.data_ptr())[i] * static_cast<const C*>(b.data_ptr())[i];
  }
}
void ComplexSquare(Tensor x, Result out) { ComplexProduct(x, x, 1, out); }
void ComplexSquareJvp(Tensor x, Tensor t_x, Result t_out) { ComplexProduct(x, t_x, 2, t_out); }

// out = the sum of the squared rows of all items, plus bias.
void Sums(kp::ListView<Tensor> xs, Maybe bias, Result out) {
  Clear(out);
  for (size_t i = 0; i < xs.size(); ++i) AddRows(xs[i], xs[i], 1, out);
  for (int64_t i = 0; bias && i < out.numel(); ++i) out.data_ptr<double>()[i] += bias->data_ptr<double>()[i];
}
void SumsJvp(kp::ListView<Tensor> xs, kp::ListView<Tensor> t_xs, Maybe t_bias, Result t_out) {
  Clear(t_out);
  for (size_t i = 0; i < xs.size(); ++i) AddRows(xs[i], t_xs[i], 2, t_out);
  for (int64_t i = 0; t_bias && i < t_out.numel(); ++i) t_out.data_ptr<double>()[i] += t_bias->data_ptr<double>()[i];
}

}  // namespace

KP_MODULE("jax_tangents", "1.0.0");
KP_EXPORT(nones, Nones);
KP_EXPORT(scale, Scale, "(x: f64[..., D], w: f64[D]) -> (out: f64[..., D])");
KP_EXPORT(scale_jvp, ScaleJvp, "(x: f64[..., D], w: f64[D], t_x: f64[..., D], t_w: f64[D]?) -> (t_out: f64[..., D])");
KP_EXPORT(scale_backward, ScaleBackward,
          "(d_out: f64[..., D], x: f64[..., D], w: f64[D]) -> (d_x: f64[..., D], d_w: f64[D] sum)");
KP_EXPORT(scale_backward_jvp, ScaleBackwardJvp,
          "(d_out: f64[..., D], x: f64[..., D], w: f64[D], t_d_out: f64[..., D]?, t_x: f64[..., D]?, t_w: f64[D]?) "
          "-> (t_d_x: f64[..., D], t_d_w: f64[D] sum)");
KP_EXPORT(scale_jvp_backward, ScaleJvpBackward,
          "(d_t_out: f64[..., D], x: f64[..., D], w: f64[D], t_x: f64[..., D], t_w: f64[D]?) "
          "-> (d_x: f64[..., D], d_w: f64[D] sum, d_t_x: f64[..., D], d_t_w: f64[D] sum)");
KP_JVP(scale, scale_jvp);
KP_GRAD(scale, scale_backward);
KP_JVP(scale_backward, scale_backward_jvp);
KP_GRAD(scale_jvp, scale_jvp_backward);
KP_EXPORT(square, Square,
          "(x: f64[...], *, factor: float = 1.0) -> (out: f64[...], count: i32[], twice: f64[...] aux)");
KP_EXPORT(square_jvp, SquareJvp, "(t_x: f64[...], twice: f64[...], *, factor: float) -> (t_out: f64[...])");
KP_EXPORT(square_backward, SquareJvp, "(d_out: f64[...], twice: f64[...], *, factor: float) -> (d_x: f64[...])");
KP_EXPORT(square_backward_jvp, SquareBackwardJvp,
          "(d_out: f64[...], twice: f64[...], t_d_out: f64[...]?, t_twice: f64[...]?, *, factor: float) "
          "-> (t_d_x: f64[...])");
KP_JVP(square, square_jvp);
KP_GRAD(square, square_backward);
KP_JVP(square_backward, square_backward_jvp);
KP_EXPORT(squared, Squared, "(x: f64[...]) -> (out: f64[...], twice: f64[...] aux)");
KP_EXPORT(squared_jvp, SquaredJvp, "(t_x: f64[...], twice: f64[...]) -> (t_out: f64[...], t_twice: f64[...])");
KP_EXPORT(squared_backward, SquaredBackward, "(d_out: f64[...], twice: f64[...]) -> (d_x: f64[...])");
KP_EXPORT(squared_backward_jvp, SquaredBackwardJvp,
          "(d_out: f64[...], twice: f64[...], t_d_out: f64[...]?, t_twice: f64[...]?) -> (t_d_x: f64[...])");
KP_JVP(squared, squared_jvp);
KP_GRAD(squared, squared_backward);
KP_JVP(squared_backward, squared_backward_jvp);
KP_EXPORT(cubed, Cubed, "(x: f64[...]) -> (out: f64[...])");
KP_EXPORT(cubed_jvp, CubedJvp, "(x: f64[...], t_x: f64[...]) -> (t_out: f64[...])");
KP_EXPORT(cubed_backward, CubedJvp, "(x: f64[...], d_out: f64[...]) -> (d_x: f64[...])");
KP_JVP(cubed, cubed_jvp);
KP_GRAD(cubed, cubed_backward);
KP_EXPORT(complex_square, ComplexSquare, "(x: c128[...]) -> (out: c128[...])");
KP_EXPORT(complex_square_jvp, ComplexSquareJvp, "(x: c128[...], t_x: c128[...]) -> (t_out: c128[...])");
KP_JVP(complex_square, complex_square_jvp);
KP_EXPORT(sums, Sums, "(xs: list[f64[_, D]], bias: f64[D]?) -> (out: f64[D])");
KP_EXPORT(sums_jvp, SumsJvp, "(xs: list[f64[_, D]], t_xs: list[f64[_, D]], t_bias: f64[D]?) -> (t_out: f64[D])");
KP_JVP(sums, sums_jvp);
