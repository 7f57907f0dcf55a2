// add_rms_norm: a residual is added, and the sum normalised while it is in the cache.
#include "add.h"

#include "../ops/weight_grad.h"

namespace kk {
namespace {

template <class Level>
void AddRmsNorm(kp::TensorView x, kp::TensorView residual, kp::TensorView weight, double eps, kp::MutTensorView out,
                kp::MutTensorView sum) {
  if (x.numel() == 0) return;
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const int64_t width = LastDim(x);
    const NormArgs<T> args = {Data<T>(sum), Data<T>(weight), nullptr, Data<T>(out), width, eps};
    ForRows(Rows(x), width, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin, at = begin * width; r < end; ++r, at += width) {
        AddElements<Level, T>(Data<T>(x) + at, Data<T>(residual) + at, Data<T>(sum) + at, width);
        RmsNormRows<Level, T>(args, r, r + 1);
      }
    });
  });
}

// x and the residual have the same gradient: that of the norm and that of the sum.
template <class Level>
void AddRmsNormBackward(kp::TensorView d_out, kp::TensorView d_sum, kp::TensorView sum, kp::TensorView weight,
                        double eps, kp::MutTensorView d_x, kp::MutTensorView d_residual, kp::MutTensorView d_weight) {
  DispatchFloat(sum.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const int64_t width = LastDim(sum);
    T* const outs[] = {Data<T>(d_weight)};
    SumOverRows<Level>(Rows(sum), width, outs, [&](int64_t begin, int64_t end, ComputeType<T>* sums) {
      const NormBackwardArgs<T> args = {Data<T>(d_out), Data<T>(sum), Data<T>(weight), Data<T>(d_x),
                                        sums,           nullptr,      width,           eps};
      RmsNormBackwardRows<Level, T>(args, begin, end);
      const int64_t at = begin * width, count = (end - begin) * width;
      AddElements<Level, T>(args.d_x + at, Data<T>(d_sum) + at, args.d_x + at, count);
      std::copy_n(args.d_x + at, count, Data<T>(d_residual) + at);
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(add_rms_norm, "Two results: sum = x + residual, rounded to T, and out = rms_norm(sum).");
KK_EXPORT(add_rms_norm, kk::AddRmsNorm,
          "(x: T[..., D], residual: T[..., D], weight: T[D], *, eps: float = 1e-6) -> (out: T[..., D], sum: T[..., D]) "
          "where T in {f32, f64, f16, bf16} with deterministic");
KK_EXPORT(add_rms_norm_backward, kk::AddRmsNormBackward,
          "(d_out: T[..., D], d_sum: T[..., D], sum: T[..., D], weight: T[D], *, eps: float) "
          "-> (d_x: T[..., D], d_residual: T[..., D], d_weight: T[D] sum) where T in {f32, f64, f16, bf16} "
          "with deterministic, nondiff(d_out, d_sum, sum, weight)");
KP_GRAD(add_rms_norm, add_rms_norm_backward);
