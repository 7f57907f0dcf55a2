// Rows divided by their Euclidean length, and the gradient of that.
#include <cmath>

#include "rows.h"
#include "sum_squares.h"

namespace kk {

template <class Level, class T>
void L2NormalizeRows(const T* x, T* out, int64_t width, double eps, int64_t begin, int64_t end) {
  for (int64_t at = begin * width; at < end * width; at += width) {
    const double length = std::sqrt(SumSquares(x + at, width));
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
    const double length = std::sqrt(SumSquares(x + at, width));
    const S scale = static_cast<S>(1 / (length < eps ? eps : length));
    const double along = RowSum<T>(
        width, [&](int64_t i, auto extent) { return Get(d_out + at + i, extent) * (Get(x + at + i, extent) * scale); });
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
