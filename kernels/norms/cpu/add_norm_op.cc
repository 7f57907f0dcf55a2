// add_rms_norm and add_layer_norm: a residual is added, and the sum normalised while it is in the cache.
#include "add_norm.h"

#include "norms/contract.h"
#include "weight_grad.h"

namespace kk {
namespace {

struct OfRms {
  template <class Level, class T>
  static void Rows(const NormArgs<T>& args, int64_t begin, int64_t end) {
    RmsNormRows<Level, T>(args, begin, end);
  }
  template <class Level, class T>
  static void BackwardRows(const NormBackwardArgs<T>& args, int64_t begin, int64_t end) {
    RmsNormBackwardRows<Level, T>(args, begin, end);
  }
};

struct OfLayer {
  template <class Level, class T>
  static void Rows(const NormArgs<T>& args, int64_t begin, int64_t end) {
    LayerNormRows<Level, T>(args, begin, end);
  }
  template <class Level, class T>
  static void BackwardRows(const NormBackwardArgs<T>& args, int64_t begin, int64_t end) {
    LayerNormBackwardRows<Level, T>(args, begin, end);
  }
};

template <class Level, class Norm>
void AddNorm(kp::TensorView x, kp::TensorView residual, kp::TensorView weight, std::optional<kp::TensorView> bias,
             double eps, kp::MutTensorView out, kp::MutTensorView sum) {
  if (x.numel() == 0) return;
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const int64_t width = LastDim(x);
    const WeightAs<Level, ComputeType<T>> weights(weight), biases(bias);
    const NormArgs<T> args = {Data<T>(sum), weights.data(), biases.data(), Data<T>(out), width, eps};
    ForRows(Rows(x), width, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin, at = begin * width; r < end; ++r, at += width) {
        AddElements<Level, T>(Data<T>(x) + at, Data<T>(residual) + at, Data<T>(sum) + at, width);
        Norm::template Rows<Level, T>(args, r, r + 1);
      }
    });
  });
}

// x and the residual have the same gradient: that of the norm and that of the sum. of_weights: d_weight, and d_bias where there
// is one.
template <class Level, class Norm, int kCount>
void AddNormBackward(kp::TensorView d_out, kp::TensorView d_sum, kp::TensorView sum, kp::TensorView weight, double eps,
                     kp::MutTensorView d_x, kp::MutTensorView d_residual,
                     kp::MutTensorView const (&of_weights)[kCount]) {
  DispatchFloat(sum.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using S = ComputeType<T>;
    const int64_t width = LastDim(sum);
    const WeightAs<Level, S> weights(weight);
    SumOverRows<Level, S>(Rows(sum), width, of_weights, [&](int64_t begin, int64_t end, S* sums) {
      const NormBackwardArgs<T> args = {Data<T>(d_out), Data<T>(sum), weights.data(),
                                        Data<T>(d_x),   sums,         kCount > 1 ? sums + width : nullptr,
                                        width,          eps};
      Norm::template BackwardRows<Level, T>(args, begin, end);
      const int64_t at = begin * width, count = (end - begin) * width;
      AddElements<Level, T>(args.d_x + at, Data<T>(d_sum) + at, args.d_x + at, count);
      std::copy_n(args.d_x + at, count, Data<T>(d_residual) + at);
    });
  });
}

template <class Level>
void AddRmsNorm(kp::TensorView x, kp::TensorView residual, kp::TensorView weight, double eps, kp::MutTensorView out,
                kp::MutTensorView sum) {
  AddNorm<Level, OfRms>(x, residual, weight, std::nullopt, eps, out, sum);
}
template <class Level>
void AddRmsNormBackward(kp::TensorView d_out, kp::TensorView d_sum, kp::TensorView sum, kp::TensorView weight,
                        double eps, kp::MutTensorView d_x, kp::MutTensorView d_residual, kp::MutTensorView d_weight) {
  AddNormBackward<Level, OfRms>(d_out, d_sum, sum, weight, eps, d_x, d_residual, {d_weight});
}

template <class Level>
void AddLayerNorm(kp::TensorView x, kp::TensorView residual, kp::TensorView weight, std::optional<kp::TensorView> bias,
                  double eps, kp::MutTensorView out, kp::MutTensorView sum) {
  AddNorm<Level, OfLayer>(x, residual, weight, bias, eps, out, sum);
}
template <class Level>
void AddLayerNormBackward(kp::TensorView d_out, kp::TensorView d_sum, kp::TensorView sum, kp::TensorView weight,
                          double eps, kp::MutTensorView d_x, kp::MutTensorView d_residual, kp::MutTensorView d_weight,
                          kp::MutTensorView d_bias) {
  AddNormBackward<Level, OfLayer>(d_out, d_sum, sum, weight, eps, d_x, d_residual, {d_weight, d_bias});
}

}  // namespace
}  // namespace kk

KP_DOC(add_rms_norm, "Two results: sum = x + residual, rounded to T, and out = rms_norm(sum).");
KK_EXPORT(add_rms_norm, kk::AddRmsNorm, KK_ADD_RMS_NORM_CONTRACT);
KK_EXPORT(add_rms_norm_backward, kk::AddRmsNormBackward, KK_ADD_RMS_NORM_BACKWARD_CONTRACT);
KP_GRAD(add_rms_norm, add_rms_norm_backward);

KP_DOC(add_layer_norm, "Two results: sum = x + residual, rounded to T, and out = layer_norm(sum).");
KK_EXPORT(add_layer_norm, kk::AddLayerNorm, KK_ADD_LAYER_NORM_CONTRACT);
KK_EXPORT(add_layer_norm_backward, kk::AddLayerNormBackward, KK_ADD_LAYER_NORM_BACKWARD_CONTRACT);
KP_GRAD(add_layer_norm, add_layer_norm_backward);
