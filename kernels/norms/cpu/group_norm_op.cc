// group_norm.
#include "weight_grad.h"

namespace kk {
namespace {

template <class Level, class T>
GroupNormArgs<T> MakeArgs(kp::TensorView x, const ComputeType<T>* weight, const ComputeType<T>* bias, int64_t groups,
                          double eps) {
  const int64_t items = x.size(0), channels = x.size(1);
  return {Data<T>(x), weight, bias, groups, channels / groups, x.numel() / (items * channels), eps};
}

template <class Level>
void GroupNorm(kp::TensorView x, kp::TensorView weight, std::optional<kp::TensorView> bias, int64_t groups, double eps,
               kp::MutTensorView out) {
  if (x.numel() == 0) return;
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const WeightAs<Level, ComputeType<T>> weights(weight), biases(bias);
    const auto args = MakeArgs<Level, T>(x, weights.data(), biases.data(), groups, eps);
    ForRows(x.size(0) * groups, args.width(),
            [&](int64_t begin, int64_t end) { GroupNormRows<Level, T>(args, Data<T>(out), begin, end); });
  });
}

template <class Level>
void GroupNormBackward(kp::TensorView d_out, kp::TensorView x, kp::TensorView weight, int64_t groups, double eps,
                       kp::MutTensorView d_x, kp::MutTensorView d_weight, kp::MutTensorView d_bias) {
  if (x.numel() == 0) return Zeros(weight, d_weight), Zeros(weight, d_bias);
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using S = ComputeType<T>;
    const int64_t items = x.size(0), channels = x.size(1);
    const WeightAs<Level, S> weights(weight);
    const auto args = MakeArgs<Level, T>(x, weights.data(), nullptr, groups, eps);
    std::vector<S> of_items(static_cast<size_t>(2 * items * channels));
    S *const of_weight = of_items.data(), *const of_bias = of_weight + items * channels;
    ForRows(items * groups, args.width(), [&](int64_t begin, int64_t end) {
      GroupNormBackwardRows<Level, T>(args, Data<T>(d_out), Data<T>(d_x), of_weight, of_bias, begin, end);
    });
    std::vector<int64_t> all(static_cast<size_t>(items));
    std::iota(all.begin(), all.end(), 0);
    WriteSum<Level>(of_weight, all, channels, d_weight);
    WriteSum<Level>(of_bias, all, channels, d_bias);
  });
}

}  // namespace
}  // namespace kk

#define KK_FLOATS \
  "where T in {f32, f64, f16, bf16}, W in {f32, f64, f16, bf16}, groups > 0, C % groups == 0 with deterministic"

KP_DOC(group_norm,
       "layer_norm over each of `groups` groups of channels of an item, with a weight and a bias for each channel.");
KK_EXPORT(group_norm, kk::GroupNorm,
          "(x: T[N, C, *S] compact, weight: W[C], bias: W[C]? = None, *, groups: int, eps: float = 1e-5) "
          "-> (out: T[N, C, *S]) " KK_FLOATS ", invariant(N)");
KK_EXPORT(group_norm_backward, kk::GroupNormBackward,
          "(d_out: T[N, C, *S], x: T[N, C, *S] compact, weight: W[C], *, groups: int, eps: float) "
          "-> (d_x: T[N, C, *S], d_weight: W[C] sum, d_bias: W[C] sum) " KK_FLOATS ", nondiff(d_out, x, weight)");
KP_GRAD(group_norm, group_norm_backward);
