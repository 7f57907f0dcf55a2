// Forward mode and second order of layer_norm, rms_norm and l2_normalize.
#include "norm_tangents.h"

#include "common/cpu/values.h"

#include "common/cpu/ops.h"

namespace kk {
namespace {

using Tensor = std::optional<kp::TensorView>;
using Result = std::optional<kp::MutTensorView>;

// The tensors of a NormTangentArgs, absent ones included.
struct NormTensors {
  kp::TensorView x;
  Tensor weight = {}, d_out = {};
  Tensor t_x = {}, t_weight = {}, t_bias = {}, t_d_out = {};
  Result t_out = {}, t_d_x = {}, t_d_weight = {}, t_d_bias = {};
};

// A weight or its gradient as doubles; gradients are written to their tensors by Write.
class Doubles {
 public:
  explicit Doubles(const Tensor& from) {
    if (!from) return;
    values_.resize(static_cast<size_t>(from->numel()));
    DispatchFloat(from->dtype(),
                  [&](auto tag) { LoadRow(Data<typename decltype(tag)::Type>(*from), from->numel(), data()); });
  }
  explicit Doubles(const Result& to) : values_(to ? static_cast<size_t>(to->numel()) : 0) {}

  double* data() { return values_.empty() ? nullptr : values_.data(); }

  void Write(const Result& to) const {
    if (!to) return;
    DispatchFloat(to->dtype(),
                  [&](auto tag) { StoreRow(values_.data(), to->numel(), Data<typename decltype(tag)::Type>(*to)); });
  }

 private:
  std::vector<double> values_;
};

template <class Formula>
void Run(const NormTensors& at, double eps) {
  Doubles weight(at.weight), t_weight(at.t_weight), t_bias(at.t_bias), t_d_weight(at.t_d_weight), t_d_bias(at.t_d_bias);
  DispatchFloat(at.x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    NormTangents<Formula, T>({Rows(at.x), LastDim(at.x), eps, Data<T>(at.x), Data<T>(at.d_out), Data<T>(at.t_x),
                              Data<T>(at.t_d_out), Data<T>(at.t_out), Data<T>(at.t_d_x), weight.data(), t_weight.data(),
                              t_bias.data(), t_d_weight.data(), t_d_bias.data()});
  });
  t_d_weight.Write(at.t_d_weight), t_d_bias.Write(at.t_d_bias);
}

void LayerNormJvp(kp::TensorView x, kp::TensorView weight, Tensor t_x, Tensor t_weight, Tensor t_bias, double eps,
                  kp::MutTensorView t_out) {
  NormTensors at{x};
  at.weight = weight, at.t_x = t_x, at.t_weight = t_weight, at.t_bias = t_bias, at.t_out = t_out;
  Run<LayerNormFormula>(at, eps);
}

void LayerNormBackwardBackward(Tensor d_d_x, Tensor d_d_weight, Tensor d_d_bias, kp::TensorView d_out, kp::TensorView x,
                               kp::TensorView weight, double eps, kp::MutTensorView d_d_out, kp::MutTensorView d_x,
                               kp::MutTensorView d_weight) {
  NormTensors at{x};
  at.weight = weight, at.d_out = d_out, at.t_x = d_d_x, at.t_weight = d_d_weight, at.t_bias = d_d_bias;
  at.t_out = d_d_out, at.t_d_x = d_x, at.t_d_weight = d_weight;
  Run<LayerNormFormula>(at, eps);
}

void LayerNormBackwardJvp(kp::TensorView d_out, kp::TensorView x, kp::TensorView weight, Tensor t_d_out, Tensor t_x,
                          Tensor t_weight, double eps, kp::MutTensorView t_d_x, kp::MutTensorView t_d_weight,
                          kp::MutTensorView t_d_bias) {
  NormTensors at{x};
  at.weight = weight, at.d_out = d_out, at.t_x = t_x, at.t_weight = t_weight, at.t_d_out = t_d_out;
  at.t_d_x = t_d_x, at.t_d_weight = t_d_weight, at.t_d_bias = t_d_bias;
  Run<LayerNormFormula>(at, eps);
}

void RmsNormJvp(kp::TensorView x, kp::TensorView weight, Tensor t_x, Tensor t_weight, double eps,
                kp::MutTensorView t_out) {
  NormTensors at{x};
  at.weight = weight, at.t_x = t_x, at.t_weight = t_weight, at.t_out = t_out;
  Run<RmsNormFormula>(at, eps);
}

void RmsNormBackwardBackward(Tensor d_d_x, Tensor d_d_weight, kp::TensorView d_out, kp::TensorView x,
                             kp::TensorView weight, double eps, kp::MutTensorView d_d_out, kp::MutTensorView d_x,
                             kp::MutTensorView d_weight) {
  NormTensors at{x};
  at.weight = weight, at.d_out = d_out, at.t_x = d_d_x, at.t_weight = d_d_weight;
  at.t_out = d_d_out, at.t_d_x = d_x, at.t_d_weight = d_weight;
  Run<RmsNormFormula>(at, eps);
}

void RmsNormBackwardJvp(kp::TensorView d_out, kp::TensorView x, kp::TensorView weight, Tensor t_d_out, Tensor t_x,
                        Tensor t_weight, double eps, kp::MutTensorView t_d_x, kp::MutTensorView t_d_weight) {
  NormTensors at{x};
  at.weight = weight, at.d_out = d_out, at.t_x = t_x, at.t_weight = t_weight, at.t_d_out = t_d_out;
  at.t_d_x = t_d_x, at.t_d_weight = t_d_weight;
  Run<RmsNormFormula>(at, eps);
}

void L2NormalizeBackwardBackward(kp::TensorView d_d_x, kp::TensorView d_out, kp::TensorView x, double eps,
                                 kp::MutTensorView d_d_out, kp::MutTensorView d_x) {
  NormTensors at{x};
  at.d_out = d_out, at.t_x = d_d_x, at.t_out = d_d_out, at.t_d_x = d_x;
  Run<L2NormalizeFormula>(at, eps);
}

void L2NormalizeBackwardJvp(kp::TensorView d_out, kp::TensorView x, Tensor t_d_out, Tensor t_x, double eps,
                            kp::MutTensorView t_d_x) {
  NormTensors at{x};
  at.d_out = d_out, at.t_x = t_x, at.t_d_out = t_d_out, at.t_d_x = t_d_x;
  Run<L2NormalizeFormula>(at, eps);
}

}  // namespace
}  // namespace kk

#define KK_FLOATS "where T in {f32, f64, f16, bf16} with deterministic"
#define KK_WEIGHTED "where T in {f32, f64, f16, bf16}, W in {f32, f64, f16, bf16} with deterministic"

KP_EXPORT(layer_norm_jvp, kk::LayerNormJvp,
          "(x: T[..., D] compact, weight: W[D], t_x: T[..., D]?, t_weight: W[D]?, t_bias: W[D]?, *, eps: float) "
          "-> (t_out: T[..., D]) " KK_WEIGHTED);
KP_JVP(layer_norm, layer_norm_jvp);
KP_EXPORT(
    layer_norm_backward_backward, kk::LayerNormBackwardBackward,
    "(d_d_x: T[..., D]?, d_d_weight: W[D]?, d_d_bias: W[D]?, d_out: T[..., D], x: T[..., D] compact, weight: W[D], *, "
    "eps: float) -> (d_d_out: T[..., D], d_x: T[..., D], d_weight: W[D] sum) " KK_WEIGHTED);
KP_GRAD(layer_norm_backward, layer_norm_backward_backward);
KP_EXPORT(
    layer_norm_backward_jvp, kk::LayerNormBackwardJvp,
    "(d_out: T[..., D], x: T[..., D] compact, weight: W[D], t_d_out: T[..., D]?, t_x: T[..., D]?, t_weight: W[D]?, *, "
    "eps: float) -> (t_d_x: T[..., D], t_d_weight: W[D] sum, t_d_bias: W[D] sum) " KK_WEIGHTED);
KP_JVP(layer_norm_backward, layer_norm_backward_jvp);

KP_EXPORT(rms_norm_jvp, kk::RmsNormJvp,
          "(x: T[..., D] compact, weight: W[D], t_x: T[..., D]?, t_weight: W[D]?, *, eps: float) "
          "-> (t_out: T[..., D]) " KK_WEIGHTED);
KP_JVP(rms_norm, rms_norm_jvp);
KP_EXPORT(rms_norm_backward_backward, kk::RmsNormBackwardBackward,
          "(d_d_x: T[..., D]?, d_d_weight: W[D]?, d_out: T[..., D], x: T[..., D] compact, weight: W[D], *, eps: float) "
          "-> (d_d_out: T[..., D], d_x: T[..., D], d_weight: W[D] sum) " KK_WEIGHTED);
KP_GRAD(rms_norm_backward, rms_norm_backward_backward);
KP_EXPORT(
    rms_norm_backward_jvp, kk::RmsNormBackwardJvp,
    "(d_out: T[..., D], x: T[..., D] compact, weight: W[D], t_d_out: T[..., D]?, t_x: T[..., D]?, t_weight: W[D]?, *, "
    "eps: float) -> (t_d_x: T[..., D], t_d_weight: W[D] sum) " KK_WEIGHTED);
KP_JVP(rms_norm_backward, rms_norm_backward_jvp);

KP_EXPORT(l2_normalize_backward_backward, kk::L2NormalizeBackwardBackward,
          "(d_d_x: T[..., D], d_out: T[..., D], x: T[..., D], *, eps: float) "
          "-> (d_d_out: T[..., D], d_x: T[..., D]) " KK_FLOATS);
KP_GRAD(l2_normalize_backward, l2_normalize_backward_backward);
KP_EXPORT(l2_normalize_backward_jvp, kk::L2NormalizeBackwardJvp,
          "(d_out: T[..., D], x: T[..., D], t_d_out: T[..., D]?, t_x: T[..., D]?, *, eps: float) "
          "-> (t_d_x: T[..., D]) " KK_FLOATS);
KP_JVP(l2_normalize_backward, l2_normalize_backward_jvp);
