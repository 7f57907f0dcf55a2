// Products of matrices in tiles: what the kernels with tensor cores and those without share.
#pragma once

#include "common/cuda/numbers.cuh"
#include "loss.cuh"
#include "fused_params.h"

namespace kk_cuda {

// Which index of an operand lies beside itself in memory: that which is summed over, or the other.
enum class Order { kAlongSum, kAcrossSum };

// Rows that count, as x's do.
struct Counted {
  const void* targets;
  const FusedParams& p;

  __device__ bool operator()(int row) const { return row < p.rows && LoadTarget(p, targets, row) >= 0; }
};
struct All {
  int count;

  __device__ bool operator()(int i) const { return i < count; }
};

// Element (i, k) of the factor: at[(first + i) * stride + k], or at[k * stride + first + i]. Both indices have a predicate; what isn't
// there counts as 0, and isn't read.
template <class T, Order kOrder, class HasRow, class HasSum>
struct Factor {
  static constexpr Order order = kOrder;

  const T* at;
  long long stride;
  int first;
  HasRow has_row;  // of first + i
  HasSum has_sum;  // of k

  __device__ const T* Of(int i, int k) const {
    return kOrder == Order::kAlongSum ? at + (first + i) * stride + k : at + k * stride + first + i;
  }
  __device__ bool Has(int i, int k) const { return has_row(first + i) && has_sum(k); }
};
template <Order kOrder, class T, class HasRow, class HasSum>
__device__ inline Factor<T, kOrder, HasRow, HasSum> LoadFactor(const T* at, long long stride, int first, HasRow has_row,
                                                               HasSum has_sum) {
  return {at, stride, first, has_row, has_sum};
}

using ResultTile = float (*)[kFusedStride];

// f(row, its first column of this lane, four values): each warp has its own rows of the tile, and all of them.
template <class F>
__device__ inline void ForRows(ResultTile tile, const F& f) {
  constexpr int kRows = kFusedTile / (kFusedThreads / 32);
  const int warp = threadIdx.x / 32, column = threadIdx.x % 32 * 4;
  for (int row = warp * kRows; row < (warp + 1) * kRows; ++row) {
    const float4 values = *reinterpret_cast<const float4*>(&tile[row][column]);
    const float four[4] = {values.x, values.y, values.z, values.w};
    f(row, column, four);
  }
}

}  // namespace kk_cuda
