// cumsum. It is linear: its tangent is itself, its gradient the same from the other end.
#include "common/cpu/values.h"
#include "common/cpu/ops.h"

namespace kk {
namespace {

void Run(kp::TensorView x, bool reverse, kp::MutTensorView out) {
  const int64_t width = LastDim(x);
  if (x.numel() == 0) return;
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    ForRows(Rows(x), width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* from = Data<T>(x) + row * width;
        T* to = Data<T>(out) + row * width;
        double sum = 0;  // each partial sum is rounded once
        for (int64_t i = 0; i < width; ++i) {
          const int64_t at = reverse ? width - 1 - i : i;
          sum += Load(from[at]);
          Store(sum, to + at);
        }
      }
    });
  });
}

void Backward(kp::TensorView d_out, bool reverse, kp::MutTensorView d_x) { Run(d_out, !reverse, d_x); }

}  // namespace
}  // namespace kk

#define KK_WHERE " where T in {f32, f64, f16, bf16} with deterministic"

KP_DOC(cumsum,
       "For each element of a row, the sum of the elements up to it, itself included; with reverse, of the elements "
       "from it to the end. Sums are formed in f64 and rounded once.");
KP_EXPORT(cumsum, kk::Run,
          "(x: T[..., N], *, reverse: bool = False) -> (out: T[..., N])" KK_WHERE ", invariant(batch)");
KP_EXPORT(cumsum_backward, kk::Backward, "(d_out: T[..., N], *, reverse: bool) -> (d_x: T[..., N])" KK_WHERE);
KP_GRAD(cumsum, cumsum_backward);
KP_EXPORT(cumsum_jvp, kk::Run, "(t_x: T[..., N], *, reverse: bool) -> (t_out: T[..., N])" KK_WHERE);
KP_JVP(cumsum, cumsum_jvp);
KP_EXPORT(cumsum_backward_backward, kk::Run, "(d_d_x: T[..., N], *, reverse: bool) -> (d_d_out: T[..., N])" KK_WHERE);
KP_GRAD(cumsum_backward, cumsum_backward_backward);
KP_EXPORT(cumsum_backward_jvp, kk::Backward, "(t_d_out: T[..., N], *, reverse: bool) -> (t_d_x: T[..., N])" KK_WHERE);
KP_JVP(cumsum_backward, cumsum_backward_jvp);
