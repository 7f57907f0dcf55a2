// The sum of squares of a row, for any finite values.
#pragma once

#include "row.h"

namespace kk {
namespace {

// Squares of floats are summed as floats while that neither overflows nor loses what is small; else as doubles.
template <class T>
double SumSquares(const T* x, int64_t width) {
  const double sum = RowSum<T>(width, [&](int64_t i, auto extent) {
    const auto v = Get(x + i, extent);
    return v * v;
  });
  if (sizeof(typename Pack<T>::S) == sizeof(double) || (sum > 1e-25 && sum < 1e38)) return sum;
  double exact = 0;
  ForRow<T>(width, [&](int64_t i, auto extent) {
    const auto v = Get(x + i, extent);
    for (int lane = 0; lane < Pack<T>::kLanes; ++lane) exact += static_cast<double>(v[lane]) * v[lane];
  });
  return exact;
}

}  // namespace
}  // namespace kk
