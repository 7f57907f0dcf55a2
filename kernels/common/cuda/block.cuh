// Sums of the elements of a row that a block has: its kRowThreads threads call them together, any number of times.
#pragma once

#include "team.cuh"

namespace kk_cuda {

constexpr int kRowThreads = 128;

// The sum over the row of get(i), in S.
template <class S, class Get>
__device__ inline S RowSum(int width, Get get) {
  S sum = 0;
  for (int i = threadIdx.x; i < width; i += kRowThreads) sum += static_cast<S>(get(i));
  return Team<kRowThreads>::Sum(sum);
}

// True if a sum neither overflowed nor lost digits to a number near zero.
template <class S>
__device__ inline bool IsModerate(S sum) {
  constexpr double kLarge = sizeof(S) == 4 ? 1e30 : 1e250;
  return sum == 0 || (fabs(sum) < kLarge && fabs(sum) > 1 / kLarge);
}

}  // namespace kk_cuda
