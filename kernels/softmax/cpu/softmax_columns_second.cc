// Forward mode and second order of softmax_columns' gradient: each column as softmax's rows are.
#include "softmax_second.h"

namespace kk {
namespace {

// A matrix's column, which lies in steps.
struct Column {
  int64_t at, step, n;

  // Zeros where there is no tensor.
  template <class R>
  std::vector<R> Of(const Tensor& x) const {
    std::vector<R> values(static_cast<size_t>(n));
    if (!x) return values;
    DispatchFloat(x->dtype(), [&](auto tag) {
      const auto* from = Data<typename decltype(tag)::Type>(*x) + at;
      for (int64_t i = 0; i < n; ++i) values[i] = Load(from[i * step]);
    });
    return values;
  }

  template <class R, class T>
  void Put(const std::vector<R>& values, T* to) const {
    for (int64_t i = 0; i < n; ++i) Store(values[i], to + at + i * step);
  }
};

template <class R>
std::vector<Dual<R>> Duals(const std::vector<R>& values, const std::vector<R>& tangents) {
  std::vector<Dual<R>> both(values.size());
  for (size_t i = 0; i < both.size(); ++i) both[i] = {values[i], tangents[i]};
  return both;
}

template <class F>
void ForEachColumn(kp::TensorView x, F f) {
  if (x.numel() == 0) return;
  const int64_t n = x.size(-2), width = x.size(-1);
  ForRows(x.numel() / n, n, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) f(Column{c / width * n * width + c % width, width, n});
  });
}

void BackwardJvp(kp::TensorView d_probs, kp::TensorView probs, Tensor t_d_probs, Tensor t_probs,
                 kp::MutTensorView t_d_x) {
  DispatchFloat(probs.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using R = Wide<T>;
    ForEachColumn(probs, [&](Column column) {
      const auto c = Duals(column.Of<R>(d_probs), column.Of<R>(t_d_probs));
      const auto p = Duals(column.Of<R>(probs), column.Of<R>(t_probs));
      std::vector<R> tangent(c.size());
      SoftmaxGradientTangent(c.data(), p.data(), column.n, tangent.data());
      column.Put(tangent, Data<T>(t_d_x));
    });
  });
}

void BackwardBackward(kp::TensorView d_d_x, kp::TensorView d_probs, kp::TensorView probs, kp::MutTensorView d_d_probs,
                      kp::MutTensorView d_p) {
  DispatchFloat(probs.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using R = Wide<T>;
    ForEachColumn(probs, [&](Column column) {
      const auto u = column.Of<R>(d_d_x), c = column.Of<R>(d_probs), p = column.Of<R>(probs);
      std::vector<R> of_c(c.size()), of_p(c.size());
      SoftmaxSecondOrder(u.data(), c.data(), p.data(), column.n, of_c.data(), of_p.data());
      column.Put(of_c, Data<T>(d_d_probs));
      column.Put(of_p, Data<T>(d_p));
    });
  });
}

}  // namespace
}  // namespace kk

#define KK_WHERE "where T in {f32, f64, f16, bf16} with deterministic, independent(D)"

KP_EXPORT(softmax_columns_backward_jvp, kk::BackwardJvp,
          "(d_probs: T[..., N, D], probs: T[..., N, D], t_d_probs: T[..., N, D]?, t_probs: T[..., N, D]?) "
          "-> (t_d_x: T[..., N, D]) " KK_WHERE);
KP_JVP(softmax_columns_backward, softmax_columns_backward_jvp);
KP_EXPORT(softmax_columns_backward_backward, kk::BackwardBackward,
          "(d_d_x: T[..., N, D], d_probs: T[..., N, D], probs: T[..., N, D]) "
          "-> (d_d_probs: T[..., N, D], d_probs_: T[..., N, D]) " KK_WHERE);
KP_GRAD(softmax_columns_backward, softmax_columns_backward_backward);
