// Gradients of weights: sums over all rows of a tensor.
#pragma once

#include <numeric>
#include <vector>

#include "common.h"

namespace kk {

// Rows are cut into parts whose number depends on the shape only, so that the sums are the same on any number of threads.
// add(begin, end, sums) adds rows [begin, end) to `sums`: kCount arrays of `width` items, one after the other.
// outs[k] gets the k-th sum.
template <class Level, class T, int kCount, class Add>
void SumOverRows(int64_t rows, int64_t width, T* const (&outs)[kCount], Add add) {
  using S = ComputeType<T>;
  const int64_t parts = std::clamp<int64_t>(rows * width / kElementsPerThread, 1, 16);
  std::vector<S> sums(static_cast<size_t>(parts * kCount * width));
  kp::parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      add(rows * p / parts, rows * (p + 1) / parts, sums.data() + p * kCount * width);
    }
  });
  std::vector<int64_t> chosen(static_cast<size_t>(parts));
  for (int k = 0; k < kCount; ++k) {
    for (int64_t p = 0; p < parts; ++p) chosen[p] = p * kCount + k;
    SumRows<Level, S, T>(sums.data(), chosen.data(), parts, 1.0, outs[k], width);
  }
}

}  // namespace kk
