// Rows divided by their Euclidean length, and the gradient of that.
#include <cmath>

#include "common/cpu/rows.h"
#include "common/cpu/sum_squares.h"
#include "common/cpu/wide.h"

namespace kk {

template <class Level, class T>
void L2NormalizeRows(const T* x, T* out, int64_t width, double eps, int64_t begin, int64_t end) {
  for (int64_t at = begin * width; at < end * width; at += width) {
    const double sum = SumSquares(x + at, width), length = std::sqrt(sum);
    if (!SquaresFit<ComputeType<T>>(sum, eps * eps)) {
      WideForwardRow<L2NormalizeFormula, T>({x, nullptr, nullptr, out, width, eps}, at / width);
      continue;
    }
    const auto divisor = static_cast<ComputeType<T>>(length < eps ? eps : length);
    ForRow<T>(width, [&](int64_t i, auto extent) { Put(out + at + i, extent, Get(x + at + i, extent) / divisor); });
  }
}

// Below eps the divisor is a constant; above, the part of d_out along x does not change the result.
template <class Level, class T>
void L2NormalizeBackwardRows(const T* d_out, const T* x, T* d_x, int64_t width, double eps, int64_t begin,
                             int64_t end) {
  using S = ComputeType<T>;
  for (int64_t at = begin * width; at < end * width; at += width) {
    const double sum = SumSquares(x + at, width), length = std::sqrt(sum);
    const S scale = static_cast<S>(1 / (length < eps ? eps : length));
    const double along = RowSum<T>(
        width, [&](int64_t i, auto extent) { return Get(d_out + at + i, extent) * (Get(x + at + i, extent) * scale); });
    if (!SquaresFit<S>(sum, eps * eps) || !IsModerate<S>(along)) {
      WideBackwardRow<L2NormalizeFormula, T>({d_out, x, nullptr, d_x, nullptr, nullptr, width, eps}, at / width);
      continue;
    }
    const S dot = length < eps ? 0 : static_cast<S>(along);
    ForRow<T>(width, [&](int64_t i, auto extent) {
      Put(d_x + at + i, extent, (Get(d_out + at + i, extent) - Get(x + at + i, extent) * scale * dot) * scale);
    });
  }
}

#define KK_INSTANTIATE(T)                                                                        \
  template void L2NormalizeRows<KP_VARIANT, T>(const T*, T*, int64_t, double, int64_t, int64_t); \
  template void L2NormalizeBackwardRows<KP_VARIANT, T>(const T*, const T*, T*, int64_t, double, int64_t, int64_t);
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
