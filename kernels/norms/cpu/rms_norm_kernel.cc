// RMSNorm of rows, and its gradient.
#include <cmath>

#include "common/cpu/rows.h"
#include "common/cpu/sum_squares.h"
#include "common/cpu/wide.h"

namespace kk {

template <class Level, class T>
void RmsNormRows(const NormArgs<T>& args, int64_t begin, int64_t end) {
  using S = typename Pack<T>::S;
  const int64_t width = args.width;
  for (int64_t row = begin; row < end; ++row) {
    const T* x = args.x + row * width;
    T* out = args.out + row * width;
    const double sum = SumSquares(x, width);
    if (!SquaresFit<S>(sum, args.eps)) {
      WideForwardRow<RmsNormFormula>(args, row);
      continue;
    }
    const S scale = static_cast<S>(1 / std::sqrt(sum / width + args.eps));
    ForRow<T>(width, [&](int64_t i, auto extent) {
      Put(out + i, extent, Get(x + i, extent) * scale * Get(args.weight + i, extent));
    });
  }
}

template <class Level, class T>
void RmsNormBackwardRows(const NormBackwardArgs<T>& args, int64_t begin, int64_t end) {
  using S = ComputeType<T>;
  const int64_t width = args.width;
  for (int64_t at = begin * width; at < end * width; at += width) {
    const T *d_out = args.d_out + at, *x = args.x + at;
    const double sum = SumSquares(x, width);
    const S scale = static_cast<S>(1 / std::sqrt(sum / width + args.eps));
    const auto normal = [&](int64_t i, auto extent) { return Get(x + i, extent) * scale; };
    const double along = RowSum<T>(width, [&](int64_t i, auto extent) {
      return Get(d_out + i, extent) * Get(args.weight + i, extent) * normal(i, extent);
    });
    if (!SquaresFit<S>(sum, args.eps) || !IsModerate<S>(along)) {
      WideBackwardRow<RmsNormFormula>(args, at / width);
      continue;
    }
    const S mean = static_cast<S>(along / width);
    ForRow<T>(width, [&](int64_t i, auto extent) {
      const auto d = Get(d_out + i, extent), unit = normal(i, extent);
      Put(args.d_x + at + i, extent, (d * Get(args.weight + i, extent) - unit * mean) * scale);
      Put(args.d_weight + i, extent, Get(args.d_weight + i, extent) + d * unit);
    });
  }
}

#define KK_INSTANTIATE(T)                                                         \
  template void RmsNormRows<KP_VARIANT, T>(const NormArgs<T>&, int64_t, int64_t); \
  template void RmsNormBackwardRows<KP_VARIANT, T>(const NormBackwardArgs<T>&, int64_t, int64_t);
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
