// The order of a row of logits: the largest first, NaNs before it, of equal ones the one that comes first.
#pragma once

#include "common/cuda/team.cuh"
#include "params.h"

namespace kk_cuda {

using LogitBlock = Team<kLogitThreads>;

// Of an element. The one before another has the larger place; no two have the same, and none has 0.
using Place = unsigned long long;
constexpr int kPlaceBits = 64;

__device__ inline Place GetPlace(float x, int index) {
  const unsigned bits = __float_as_uint(x == 0 ? 0.f : x);  // zeros of both signs are equal
  const unsigned key = isnan(x) ? ~0u : bits >> 31 ? ~bits : bits | 0x80000000u;
  return static_cast<Place>(key) << 32 | ~static_cast<unsigned>(index);
}
__device__ inline int GetIndex(Place place) { return static_cast<int>(~static_cast<unsigned>(place)); }
__device__ inline float GetValue(Place place) {
  const auto key = static_cast<unsigned>(place >> 32);
  return __uint_as_float(key >> 31 ? key & 0x7fffffffu : ~key);  // a NaN's is one
}

// Of the row's elements, the one that is before all others.
template <class T>
__device__ inline Place FindFirst(const T* row, int width) {
  Place first = 0;
  for (int i = threadIdx.x; i < width; i += kLogitThreads) first = max(first, GetPlace(Number(row[i]), i));
  return LogitBlock::Reduce(first, [](Place a, Place b) { return max(a, b); });
}

}  // namespace kk_cuda
