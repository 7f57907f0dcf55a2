// layer_norm and rms_norm. Their tangents and second order: norm_tangents_op.cc.
#include "norms/contract.h"
#include "common/cpu/strided.h"
#include "weight_grad.h"

namespace kk {
namespace {

template <class Level>
void LayerNorm(kp::TensorView x, kp::TensorView weight, std::optional<kp::TensorView> bias, double eps,
               kp::MutTensorView out) {
  if (x.numel() == 0) return;
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const WeightAs<Level, ComputeType<T>> weights(weight), biases(bias);
    const NormArgs<T> all = {Data<T>(x), weights.data(), biases.data(), Data<T>(out), LastDim(x), eps};
    ForRows(Rows(x), all.width,
            [&](int64_t begin, int64_t end) { ForNormRows<T>(x, all, begin, end, LayerNormRows<Level, T>); });
  });
}

template <class Level>
void RmsNorm(kp::TensorView x, kp::TensorView weight, double eps, kp::MutTensorView out) {
  if (x.numel() == 0) return;
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const WeightAs<Level, ComputeType<T>> weights(weight);
    const NormArgs<T> all = {Data<T>(x), weights.data(), nullptr, Data<T>(out), LastDim(x), eps};
    ForRows(Rows(x), all.width,
            [&](int64_t begin, int64_t end) { ForNormRows<T>(x, all, begin, end, RmsNormRows<Level, T>); });
  });
}

template <class Level>
void LayerNormBackward(kp::TensorView d_out, kp::TensorView x, kp::TensorView weight, double eps, kp::MutTensorView d_x,
                       kp::MutTensorView d_weight, kp::MutTensorView d_bias) {
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using S = ComputeType<T>;
    const int64_t width = LastDim(x);
    const WeightAs<Level, S> weights(weight);
    SumOverRows<Level, S>(Rows(x), width, {d_weight, d_bias}, [&](int64_t begin, int64_t end, S* sums) {
      const NormBackwardArgs<T> all = {Data<T>(d_out), Data<T>(x),   weights.data(), Data<T>(d_x),
                                       sums,           sums + width, width,          eps};
      ForNormRows<T>(x, all, begin, end, LayerNormBackwardRows<Level, T>);
    });
  });
}

template <class Level>
void RmsNormBackward(kp::TensorView d_out, kp::TensorView x, kp::TensorView weight, double eps, kp::MutTensorView d_x,
                     kp::MutTensorView d_weight) {
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using S = ComputeType<T>;
    const int64_t width = LastDim(x);
    const WeightAs<Level, S> weights(weight);
    SumOverRows<Level, S>(Rows(x), width, {d_weight}, [&](int64_t begin, int64_t end, S* sums) {
      const NormBackwardArgs<T> all = {Data<T>(d_out), Data<T>(x), weights.data(), Data<T>(d_x),
                                       sums,           nullptr,    width,          eps};
      ForNormRows<T>(x, all, begin, end, RmsNormBackwardRows<Level, T>);
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(
    layer_norm,
    "(x - mean) / sqrt(variance + eps) * weight + bias, over the last dimension. x may be strided. The weight may have "
    "another dtype than x, as under autocast.");
KK_EXPORT(layer_norm, kk::LayerNorm, KK_LAYER_NORM_CONTRACT);
KK_EXPORT(layer_norm_backward, kk::LayerNormBackward, KK_LAYER_NORM_BACKWARD_CONTRACT);
KP_GRAD(layer_norm, layer_norm_backward);

KP_DOC(
    rms_norm,
    "x / sqrt(mean of squares + eps) * weight, over the last dimension. x may be strided. The weight may have another "
    "dtype than x, as under autocast.");
KK_EXPORT(rms_norm, kk::RmsNorm, KK_RMS_NORM_CONTRACT);
KK_EXPORT(rms_norm_backward, kk::RmsNormBackward, KK_RMS_NORM_BACKWARD_CONTRACT);
KP_GRAD(rms_norm, rms_norm_backward);
