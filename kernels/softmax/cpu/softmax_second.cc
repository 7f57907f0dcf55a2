// Forward mode of softmax, and forward mode and second order of its gradients.
#include "softmax_second.h"

#include "mask_groups.h"
#include "mask_rows.h"

namespace kk {
namespace {

// All of a tensor as numbers.
template <class R>
std::vector<R> Numbers(kp::TensorView from) {
  std::vector<R> to(static_cast<size_t>(from.numel()));
  DispatchFloat(from.dtype(),
                [&](auto tag) { LoadRow(Data<typename decltype(tag)::Type>(from), from.numel(), to.data()); });
  return to;
}

// t_probs = g(t_x + t_mask, probs).
void SoftmaxJvp(kp::TensorView probs, Tensor t_x, Tensor t_mask, kp::MutTensorView t_probs) {
  DispatchFloat(probs.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using R = Wide<T>;
    const int64_t width = LastDim(probs);
    const std::vector<R> added = t_mask ? Numbers<R>(*t_mask) : std::vector<R>(static_cast<size_t>(width));
    const int64_t flat[] = {width};
    const kp::ShapeView mask_shape = t_mask ? t_mask->sizes() : kp::ShapeView(flat, 1);
    ForRows(Rows(probs), width, [&](int64_t begin, int64_t end) {
      std::vector<Dual<R>> t(static_cast<size_t>(width)), p(t.size());
      std::vector<R> tangent(t.size());
      MaskRows rows(probs.sizes(), mask_shape, begin);
      for (int64_t row = begin; row < end; ++row, rows.Next()) {
        LoadRow<R, T>(nullptr, GetRow<T>(t_x, row, width), width, t.data());
        for (int64_t i = 0; i < width; ++i) t[i].tangent += added[rows.row() * width + i];
        LoadRow<R, T>(Data<T>(probs) + row * width, nullptr, width, p.data());
        SoftmaxGradientTangent(t.data(), p.data(), width, tangent.data());
        StoreRow(tangent.data(), width, Data<T>(t_probs) + row * width);
      }
    });
  });
}

// t_d_x = the tangent of g(d_probs, probs).
void SoftmaxBackwardJvp(kp::TensorView d_probs, kp::TensorView probs, Tensor t_d_probs, Tensor t_probs,
                        kp::MutTensorView t_d_x) {
  DispatchFloat(probs.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using R = Wide<T>;
    const int64_t width = LastDim(probs);
    ForRows(Rows(probs), width, [&](int64_t begin, int64_t end) {
      std::vector<Dual<R>> c(static_cast<size_t>(width)), p(c.size());
      std::vector<R> tangent(c.size());
      for (int64_t row = begin; row < end; ++row) {
        LoadRow(Data<T>(d_probs) + row * width, GetRow<T>(t_d_probs, row, width), width, c.data());
        LoadRow(Data<T>(probs) + row * width, GetRow<T>(t_probs, row, width), width, p.data());
        SoftmaxGradientTangent(c.data(), p.data(), width, tangent.data());
        StoreRow(tangent.data(), width, Data<T>(t_d_x) + row * width);
      }
    });
  });
}

// u: what arrives for the gradient of x or, one row for several of probs, for that of the mask.
void SecondOrder(kp::TensorView u, kp::TensorView d_probs, kp::TensorView probs, kp::MutTensorView d_d_probs,
                 kp::MutTensorView d_p) {
  DispatchFloat(probs.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using R = Wide<T>;
    const int64_t width = LastDim(probs);
    const std::vector<R> direction = Numbers<R>(u);
    ForRows(Rows(probs), width, [&](int64_t begin, int64_t end) {
      std::vector<R> c(static_cast<size_t>(width)), p(c.size()), d_c(c.size()), d_p_row(c.size());
      MaskRows rows(probs.sizes(), u.sizes(), begin);
      for (int64_t row = begin; row < end; ++row, rows.Next()) {
        LoadRow(Data<T>(d_probs) + row * width, width, c.data());
        LoadRow(Data<T>(probs) + row * width, width, p.data());
        SoftmaxSecondOrder(direction.data() + rows.row() * width, c.data(), p.data(), width, d_c.data(),
                           d_p_row.data());
        StoreRow(d_c.data(), width, Data<T>(d_d_probs) + row * width);
        StoreRow(d_p_row.data(), width, Data<T>(d_p) + row * width);
      }
    });
  });
}

void SoftmaxBackwardBackward(kp::TensorView d_d_x, kp::TensorView d_probs, kp::TensorView probs,
                             kp::MutTensorView d_d_probs, kp::MutTensorView d_p) {
  SecondOrder(d_d_x, d_probs, probs, d_d_probs, d_p);
}

void SoftmaxMaskBackwardBackward(kp::TensorView d_d_mask, kp::TensorView d_probs, kp::TensorView probs,
                                 kp::MutTensorView d_d_probs, kp::MutTensorView d_p) {
  CheckMask("softmax_mask_backward_backward", "d_d_mask", probs.sizes(), d_d_mask.sizes());
  SecondOrder(d_d_mask, d_probs, probs, d_d_probs, d_p);
}

}  // namespace
}  // namespace kk

KP_EXPORT(softmax_jvp, kk::SoftmaxJvp,
          "(probs: T[..., N], t_x: T[..., N]?, t_mask: M[~..., N]?) -> (t_probs: T[..., N]) "
          "where T in {f32, f64, f16, bf16}, M in {f32, f64, f16, bf16} with deterministic");
KP_JVP(softmax, softmax_jvp);
KP_EXPORT(softmax_backward_jvp, kk::SoftmaxBackwardJvp,
          "(d_probs: T[..., N], probs: T[..., N], t_d_probs: T[..., N]?, t_probs: T[..., N]?) -> (t_d_x: T[..., N]) "
          "where T in {f32, f64, f16, bf16} with deterministic");
KP_JVP(softmax_backward, softmax_backward_jvp);
KP_EXPORT(softmax_backward_backward, kk::SoftmaxBackwardBackward,
          "(d_d_x: T[..., N], d_probs: T[..., N], probs: T[..., N]) -> (d_d_probs: T[..., N], d_probs_: T[..., N]) "
          "where T in {f32, f64, f16, bf16} with deterministic");
KP_GRAD(softmax_backward, softmax_backward_backward);
KP_EXPORT(softmax_mask_backward_backward, kk::SoftmaxMaskBackwardBackward,
          "(d_d_mask: M[*S], d_probs: T[..., N], probs: T[..., N]) -> (d_d_probs: T[..., N], d_probs_: T[..., N]) "
          "where T in {f32, f64, f16, bf16}, M in {f32, f64, f16, bf16} with deterministic");
KP_GRAD(softmax_mask_backward, softmax_mask_backward_backward);
