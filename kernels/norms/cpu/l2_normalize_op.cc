// l2_normalize. Its second order: norm_tangents_op.cc.
#include "common/cpu/ops.h"

namespace kk {
namespace {

template <class Level>
void L2Normalize(kp::TensorView x, double eps, kp::MutTensorView out) {
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    ForRows(Rows(x), LastDim(x), [&](int64_t begin, int64_t end) {
      L2NormalizeRows<Level, T>(Data<T>(x), Data<T>(out), LastDim(x), eps, begin, end);
    });
  });
}

template <class Level>
void L2NormalizeBackward(kp::TensorView d_out, kp::TensorView x, double eps, kp::MutTensorView d_x) {
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    ForRows(Rows(x), LastDim(x), [&](int64_t begin, int64_t end) {
      L2NormalizeBackwardRows<Level, T>(Data<T>(d_out), Data<T>(x), Data<T>(d_x), LastDim(x), eps, begin, end);
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(l2_normalize, "x / max(length of x, eps) for each row: the last dimension.");
KK_EXPORT(l2_normalize, kk::L2Normalize,
          "(x: T[..., D], *, eps: float = 1e-12) -> (out: T[..., D]) where T in {f32, f64, f16, bf16} "
          "with deterministic, invariant(batch)");
KK_EXPORT(l2_normalize_backward, kk::L2NormalizeBackward,
          "(d_out: T[..., D], x: T[..., D], *, eps: float) -> (d_x: T[..., D]) where T in {f32, f64, f16, bf16} "
          "with deterministic");
KP_GRAD(l2_normalize, l2_normalize_backward);

// Its Jacobian is symmetric: the tangent of the result is computed as a gradient is.
KK_EXPORT(l2_normalize_jvp, kk::L2NormalizeBackward,
          "(t_x: T[..., D], x: T[..., D], *, eps: float) -> (t_out: T[..., D]) where T in {f32, f64, f16, bf16} "
          "with deterministic");
KP_JVP(l2_normalize, l2_normalize_jvp);
