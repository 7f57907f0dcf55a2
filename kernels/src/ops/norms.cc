// layer_norm and rms_norm. Their tangents and second order: norm_tangents.cc.
#include "weight_grad.h"

namespace kk {
namespace {

template <class Level>
void LayerNorm(kp::TensorView x, kp::TensorView weight, std::optional<kp::TensorView> bias, double eps,
               kp::MutTensorView out) {
  if (x.numel() == 0) return;
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const NormArgs<T> args = {Data<T>(x),   Data<T>(weight), bias ? Data<T>(*bias) : nullptr,
                              Data<T>(out), LastDim(x),      eps};
    ForRows(Rows(x), args.width, [&](int64_t begin, int64_t end) { LayerNormRows<Level, T>(args, begin, end); });
  });
}

template <class Level>
void RmsNorm(kp::TensorView x, kp::TensorView weight, double eps, kp::MutTensorView out) {
  if (x.numel() == 0) return;
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const NormArgs<T> args = {Data<T>(x), Data<T>(weight), nullptr, Data<T>(out), LastDim(x), eps};
    ForRows(Rows(x), args.width, [&](int64_t begin, int64_t end) { RmsNormRows<Level, T>(args, begin, end); });
  });
}

template <class Level>
void LayerNormBackward(kp::TensorView d_out, kp::TensorView x, kp::TensorView weight, double eps, kp::MutTensorView d_x,
                       kp::MutTensorView d_weight, kp::MutTensorView d_bias) {
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const int64_t width = LastDim(x);
    T* const outs[] = {Data<T>(d_weight), Data<T>(d_bias)};
    SumOverRows<Level>(Rows(x), width, outs, [&](int64_t begin, int64_t end, ComputeType<T>* sums) {
      LayerNormBackwardRows<Level, T>(
          {Data<T>(d_out), Data<T>(x), Data<T>(weight), Data<T>(d_x), sums, sums + width, width, eps}, begin, end);
    });
  });
}

template <class Level>
void RmsNormBackward(kp::TensorView d_out, kp::TensorView x, kp::TensorView weight, double eps, kp::MutTensorView d_x,
                     kp::MutTensorView d_weight) {
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const int64_t width = LastDim(x);
    T* const outs[] = {Data<T>(d_weight)};
    SumOverRows<Level>(Rows(x), width, outs, [&](int64_t begin, int64_t end, ComputeType<T>* sums) {
      RmsNormBackwardRows<Level, T>(
          {Data<T>(d_out), Data<T>(x), Data<T>(weight), Data<T>(d_x), sums, nullptr, width, eps}, begin, end);
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(layer_norm, "(x - mean) / sqrt(variance + eps) * weight + bias, over the last dimension.");
KK_EXPORT(layer_norm, kk::LayerNorm,
          "(x: T[..., D], weight: T[D], bias: T[D]? = None, *, eps: float = 1e-5) -> (out: T[..., D]) "
          "where T in {f32, f64, f16, bf16} with deterministic");
KK_EXPORT(layer_norm_backward, kk::LayerNormBackward,
          "(d_out: T[..., D], x: T[..., D], weight: T[D], *, eps: float) "
          "-> (d_x: T[..., D], d_weight: T[D] sum, d_bias: T[D] sum) where T in {f32, f64, f16, bf16} "
          "with deterministic");
KP_GRAD(layer_norm, layer_norm_backward);

KP_DOC(rms_norm, "x / sqrt(mean of squares + eps) * weight, over the last dimension.");
KK_EXPORT(rms_norm, kk::RmsNorm,
          "(x: T[..., D], weight: T[D], *, eps: float = 1e-6) -> (out: T[..., D]) where T in {f32, f64, f16, bf16} "
          "with deterministic");
KK_EXPORT(rms_norm_backward, kk::RmsNormBackward,
          "(d_out: T[..., D], x: T[..., D], weight: T[D], *, eps: float) -> (d_x: T[..., D], d_weight: T[D] sum) "
          "where T in {f32, f64, f16, bf16} with deterministic");
KP_GRAD(rms_norm, rms_norm_backward);
