// Mean and deviation of a row.
#pragma once

#include <cmath>

#include "sum_squares.h"

namespace kk {
namespace {

template <class T>
struct Moments {
  ComputeType<T> mean, inverse_deviation;
  bool fit;  // else the row needs a wider type
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
    const S mean = static_cast<S>(pivot + to_mean);
    if (!again || to_mean * to_mean <= 4 * variance) {
      return {mean, static_cast<S>(1 / std::sqrt((variance < 0 ? 0 : variance) + eps)),
              SquaresFit<S>(sums.value[1], eps)};
    }
    again = false;
    pivot = mean;
  }
}

}  // namespace

}  // namespace kk
