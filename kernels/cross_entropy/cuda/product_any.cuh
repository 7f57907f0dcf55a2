// A tile of a product without tensor cores: of any type and alignment, in f32.
#pragma once

#include "fused_tile.cuh"

namespace kk_cuda {

struct ByThreads {
  static constexpr int kDepth = 16;  // summed over in a step

  template <class F>
  static __device__ void Load(const F& factor, int k, float (*to)[kFusedStride]) {
    for (int n = threadIdx.x; n < kFusedTile * kDepth; n += kFusedThreads) {
      const int i = F::order == Order::kAlongSum ? n / kDepth : n % kFusedTile;
      const int at = F::order == Order::kAlongSum ? n % kDepth : n / kFusedTile;
      to[at][i] = factor.Has(i, k + at) ? Number(*factor.Of(i, k + at)) : 0;
    }
  }

  template <class T, class A, class B>
  static __device__ void Multiply(const A& a, const B& b, int depth, unsigned char* memory) {
    const auto of_a = reinterpret_cast<ResultTile>(memory), of_b = of_a + kDepth;
    const int row = threadIdx.x / 16 * 8, column = threadIdx.x % 16 * 8;
    float sums[8][8] = {};
    for (int k = 0; k < depth; k += kDepth) {
      __syncthreads();
      Load(a, k, of_a), Load(b, k, of_b);
      __syncthreads();
#pragma unroll 2
      for (int d = 0; d < kDepth; ++d) {
#pragma unroll
        for (int i = 0; i < 64; ++i) sums[i / 8][i % 8] += of_a[d][row + i / 8] * of_b[d][column + i % 8];
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 64; ++i) reinterpret_cast<ResultTile>(memory)[row + i / 8][column + i % 8] = sums[i / 8][i % 8];
    __syncthreads();
  }
};

}  // namespace kk_cuda
