// The sum of squares of a row, and which sums can be trusted.
#pragma once

#include "row.h"

namespace kk {
namespace {

template <class T>
double SumSquares(const T* x, int64_t width) {
  return RowSum<T>(width, [&](int64_t i, auto extent) {
    const auto v = Get(x + i, extent);
    return v * v;
  });
}

template <class S>
struct Limits;
template <>
struct Limits<float> {
  static constexpr double kLeast = 1e-25, kLargest = 1e37, kModerate = 1e28;
};
template <>
struct Limits<double> {
  static constexpr double kLeast = 1e-270, kLargest = 1e305, kModerate = 1e290;
};

// True if the squares that make up `sum` neither overflowed nor vanished in S. Small squares may have vanished if `floor`, which
// is added or is the least allowed, is large beside them. False for inf and NaN.
template <class S>
bool SquaresFit(double sum, double floor) {
  using L = Limits<S>;
  return sum < L::kLargest && (sum > L::kLeast || floor > L::kLeast);
}

// True if a sum of products of gradients is so far from S's largest value that no product overflowed, and a difference with it
// won't overflow. False for inf and NaN.
template <class S>
bool IsModerate(double sum) {
  return sum < Limits<S>::kModerate && sum > -Limits<S>::kModerate;
}

}  // namespace
}  // namespace kk
