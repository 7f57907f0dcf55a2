// GroupNorm: rows of several channels, each with a weight of its own; and its gradient.
#include <vector>

#include "moments.h"
#include "common/cpu/rows.h"
#include "common/cpu/wide.h"

namespace kk {
namespace {

// A value per channel as one per element.
template <class S>
std::vector<S> Spread(const S* of_channels, int64_t channels, int64_t size) {
  std::vector<S> row(of_channels ? static_cast<size_t>(channels * size) : 0);
  for (size_t i = 0; i < row.size(); ++i) row[i] = of_channels[static_cast<int64_t>(i) / size];
  return row;
}

template <class S>
void SumOfChannels(const std::vector<S>& row, int64_t size, S* of_channels) {
  for (size_t i = 0; i < row.size(); ++i) of_channels[static_cast<int64_t>(i) / size] += row[i];
}

}  // namespace

template <class Level, class T>
void GroupNormRows(const GroupNormArgs<T>& args, T* out, int64_t begin, int64_t end) {
  using S = ComputeType<T>;
  const int64_t width = args.width();
  for (int64_t row = begin; row < end; ++row) {
    const T* x = args.x + row * width;
    const S* weight = args.weight + row % args.groups * args.channels;
    const S* bias = args.bias ? args.bias + row % args.groups * args.channels : nullptr;
    const Moments<T> moments = RowMoments(x, width, args.eps);
    if (!moments.fit) {
      const auto weights = Spread(weight, args.channels, args.size), biases = Spread(bias, args.channels, args.size);
      WideForwardRow<LayerNormFormula, T>(
          {x, weights.data(), bias ? biases.data() : nullptr, out + row * width, width, args.eps}, 0);
      continue;
    }
    for (int64_t c = 0; c < args.channels; ++c) {
      const T* from = x + c * args.size;
      T* to = out + row * width + c * args.size;
      const S slope = moments.inverse_deviation * weight[c], level = bias ? bias[c] : 0;
      ForRow<T>(args.size, [&](int64_t i, auto extent) {
        Put(to + i, extent, moments.Centred(Get(from + i, extent)) * slope + level);
      });
    }
  }
}

template <class Level, class T>
void GroupNormBackwardRows(const GroupNormArgs<T>& args, const T* d_out, T* d_x, ComputeType<T>* of_weight,
                           ComputeType<T>* of_bias, int64_t begin, int64_t end) {
  using S = ComputeType<T>;
  const int64_t width = args.width();
  for (int64_t row = begin; row < end; ++row) {
    const int64_t at = row * width;
    const T *x = args.x + at, *d = d_out + at;
    const S* weight = args.weight + row % args.groups * args.channels;
    S *const d_weight = of_weight + row * args.channels, *const d_bias = of_bias + row * args.channels;
    const Moments<T> moments = RowMoments(x, width, args.eps);
    double level = 0, along = 0;
    for (int64_t c = 0; c < args.channels; ++c) {
      const int64_t first = c * args.size;
      const auto sums = RowSums<2, T>(args.size, [&](int64_t i, auto extent, auto* sum) {
        const auto g = Get(d + first + i, extent);
        sum[0] += g;
        sum[1] += g * moments.Centred(Get(x + first + i, extent, moments.pivot)) * moments.inverse_deviation;
      });
      d_bias[c] = static_cast<S>(sums.value[0]), d_weight[c] = static_cast<S>(sums.value[1]);
      level += sums.value[0] * weight[c], along += sums.value[1] * weight[c];
    }
    if (!moments.fit || !IsModerate<S>(level) || !IsModerate<S>(along)) {
      const auto weights = Spread(weight, args.channels, args.size);
      std::vector<S> to_weights(static_cast<size_t>(width)), to_biases(static_cast<size_t>(width));
      WideBackwardRow<LayerNormFormula, T>(
          {d, x, weights.data(), d_x + at, to_weights.data(), to_biases.data(), width, args.eps}, 0);
      for (int64_t c = 0; c < args.channels; ++c) d_weight[c] = d_bias[c] = 0;
      SumOfChannels(to_weights, args.size, d_weight), SumOfChannels(to_biases, args.size, d_bias);
      continue;
    }
    const S shift = static_cast<S>(level / static_cast<double>(width));
    const S share = static_cast<S>(along / static_cast<double>(width));
    for (int64_t c = 0; c < args.channels; ++c) {
      const int64_t first = c * args.size;
      ForRow<T>(args.size, [&](int64_t i, auto extent) {
        const auto unit = moments.Centred(Get(x + first + i, extent)) * moments.inverse_deviation;
        Put(d_x + at + first + i, extent,
            (Get(d + first + i, extent) * weight[c] - shift - unit * share) * moments.inverse_deviation);
      });
    }
  }
}

#define KK_INSTANTIATE(T)                                                                                    \
  template void GroupNormRows<KP_VARIANT, T>(const GroupNormArgs<T>&, T*, int64_t, int64_t);                 \
  template void GroupNormBackwardRows<KP_VARIANT, T>(const GroupNormArgs<T>&, const T*, T*, ComputeType<T>*, \
                                                     ComputeType<T>*, int64_t, int64_t);
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
