// LayerNorm of rows, and its gradient.
#include "moments.h"
#include "common/cpu/rows.h"
#include "common/cpu/wide.h"

namespace kk {
template <class Level, class T>
void LayerNormRows(const NormArgs<T>& args, int64_t begin, int64_t end) {
  const int64_t width = args.width;
  for (int64_t row = begin; row < end; ++row) {
    const T* x = args.x + row * width;
    T* out = args.out + row * width;
    const Moments<T> moments = RowMoments(x, width, args.eps);
    if (!moments.fit) {
      WideForwardRow<LayerNormFormula>(args, row);
      continue;
    }
    const auto normal = [&](int64_t i, auto extent) {
      return moments.Centred(Get(x + i, extent)) * moments.inverse_deviation * Get(args.weight + i, extent);
    };
    if (args.bias) {
      ForRow<T>(width,
                [&](int64_t i, auto extent) { Put(out + i, extent, normal(i, extent) + Get(args.bias + i, extent)); });
    } else {
      ForRow<T>(width, [&](int64_t i, auto extent) { Put(out + i, extent, normal(i, extent)); });
    }
  }
}

template <class Level, class T>
void LayerNormBackwardRows(const NormBackwardArgs<T>& args, int64_t begin, int64_t end) {
  using S = ComputeType<T>;
  const int64_t width = args.width;
  for (int64_t at = begin * width; at < end * width; at += width) {
    const T *d_out = args.d_out + at, *x = args.x + at;
    const Moments<T> moments = RowMoments(x, width, args.eps);
    const auto normal = [&](int64_t i, auto extent) {
      return moments.Centred(Get(x + i, extent, moments.pivot)) * moments.inverse_deviation;
    };
    const auto sums = RowSums<2, T>(width, [&](int64_t i, auto extent, auto* sum) {
      const auto g = Get(d_out + i, extent) * Get(args.weight + i, extent);
      sum[0] += g;
      sum[1] += g * normal(i, extent);
    });
    if (!moments.fit || !IsModerate<S>(sums.value[0]) || !IsModerate<S>(sums.value[1])) {
      WideBackwardRow<LayerNormFormula>(args, at / width);
      continue;
    }
    const S level = static_cast<S>(sums.value[0] / width), along = static_cast<S>(sums.value[1] / width);
    ForRow<T>(width, [&](int64_t i, auto extent) {
      const auto d = Get(d_out + i, extent), unit = normal(i, extent);
      Put(args.d_x + at + i, extent,
          (d * Get(args.weight + i, extent) - level - unit * along) * moments.inverse_deviation);
      Put(args.d_weight + i, extent, Get(args.d_weight + i, extent) + d * unit);
      Put(args.d_bias + i, extent, Get(args.d_bias + i, extent) + d);
    });
  }
}

#define KK_INSTANTIATE(T)                                                           \
  template void LayerNormRows<KP_VARIANT, T>(const NormArgs<T>&, int64_t, int64_t); \
  template void LayerNormBackwardRows<KP_VARIANT, T>(const NormBackwardArgs<T>&, int64_t, int64_t);
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
