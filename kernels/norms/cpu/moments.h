// Mean and deviation of a row.
#pragma once

#include <cmath>

#include "common/cpu/sum_squares.h"

namespace kk {
namespace {

template <class T>
struct Moments {
  // The mean is the sum of the two: a row far from zero would lose digits to one of the sum's precision.
  ComputeType<T> pivot, to_mean;
  ComputeType<T> inverse_deviation;
  bool fit;  // else the row needs a wider type

  // Elements of the row less its mean.
  template <class V>
  V Centred(V x) const {
    return (x - pivot) - to_mean;
  }
};

// One pass of distances from a pivot. Where the pivot was so far from the mean that the difference of squares would lose
// digits, a second pass takes the mean itself.
template <class T>
Moments<T> RowMoments(const T* x, int64_t width, double eps) {
  using S = ComputeType<T>;
  S pivot = Get(x, Part{1})[0];
  for (bool again = true;;) {
    const auto sums = RowSums<2, T>(width, [&](int64_t i, auto extent, auto* sum) {
      const auto distance = Get(x + i, extent, pivot) - pivot;
      sum[0] += distance;
      sum[1] += distance * distance;
    });
    const double to_mean = sums.value[0] / width;
    const double variance = sums.value[1] / width - to_mean * to_mean;
    if (!again || to_mean * to_mean <= 4 * variance) {
      return {pivot, static_cast<S>(to_mean), static_cast<S>(1 / std::sqrt((variance < 0 ? 0 : variance) + eps)),
              SquaresFit<S>(sums.value[1], eps)};
    }
    again = false;
    pivot = static_cast<S>(pivot + to_mean);
  }
}

}  // namespace

}  // namespace kk
