// A tile of a product by tensor cores, of f16 or bf16. Rows of the factors begin at multiples of 16 bytes, and their lengths are such
// multiples.
#pragma once

#include "common/cuda/async.cuh"
#include "common/cuda/mma.cuh"
#include "common/cuda/chunks.cuh"
#include "fused_tile.cuh"

namespace kk_cuda {

struct ByTensorCores {
  static constexpr int kDepth = 32;  // summed over in a step
  static constexpr int kStages = 3;
  // Of a stage: rows of kDepth numbers, or kDepth rows of kFusedTile; 16 bytes more let ldmatrix read from other banks.
  static constexpr int kAlong = kDepth + 8, kAcross = kFusedTile + 8, kStage = kFusedTile * kAlong;
  static_assert(kStages * 2 * kStage * 2 <= kFusedBytes && kDepth * kAcross <= kStage);

  template <class F, class T>
  static __device__ void Load(const F& factor, int k, T* to) {
    constexpr bool kIsAlong = F::order == Order::kAlongSum;
    constexpr int kChunks = (kIsAlong ? kDepth : kFusedTile) / kChunk<T>;
#pragma unroll
    for (int n = 0; n < kFusedTile * kDepth / kChunk<T> / kFusedThreads; ++n) {
      const int c = n * kFusedThreads + threadIdx.x, row = c / kChunks, at = c % kChunks * kChunk<T>;
      const bool there = kIsAlong ? factor.Has(row, k + at) : factor.Has(at, k + row);
      const T* const from = !there ? factor.at : kIsAlong ? factor.Of(row, k + at) : factor.Of(at, k + row);
      CopyChunk(to + row * (kIsAlong ? kAlong : kAcross) + at, from, there);
    }
  }

  // Four matrices of 8 x 8: of `rows` from `row` on and `sums` from `k` on, those of the rows' halves first, or those of the sum's.
  template <class F, bool kRowsFirst, class T>
  static __device__ void Fragment(uint32_t (&to)[4], const T* stage, int row, int k) {
    const int lane = threadIdx.x % 32, group = lane / 8;
    const int of_row = row + (kRowsFirst ? group % 2 : group / 2) * 8,
              of_sum = k + (kRowsFirst ? group / 2 : group % 2) * 8;
    if constexpr (F::order == Order::kAlongSum) {
      LoadMatrices(to, SharedAddress(stage + (of_row + lane % 8) * kAlong + of_sum));
    } else {
      LoadTransposed(to, SharedAddress(stage + (of_sum + lane % 8) * kAcross + of_row));
    }
  }

  template <class T, class A, class B>
  static __device__ void Multiply(const A& a, const B& b, int depth, unsigned char* memory) {
    T* const stages = reinterpret_cast<T*>(memory);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp / 4 * 64, column = warp % 4 * 32;
    const int steps = (depth + kDepth - 1) / kDepth;
    const auto load = [&](int step) {
      T* const stage = stages + step % kStages * 2 * kStage;
      if (step < steps) Load(a, step * kDepth, stage), Load(b, step * kDepth, stage + kStage);
      CommitCopies();
    };
    float sums[4][4][4] = {};
    __syncthreads();  // the tile before has been read
    load(0), load(1);
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      WaitForCopies<1>();
      __syncthreads();
      load(step + 2);
      const T* const stage = stages + step % kStages * 2 * kStage;
#pragma unroll
      for (int k = 0; k < kDepth; k += 16) {
        uint32_t of_a[4][4], of_b[2][4];
#pragma unroll
        for (int i = 0; i < 4; ++i) Fragment<A, true>(of_a[i], stage, row + 16 * i, k);
#pragma unroll
        for (int j = 0; j < 2; ++j) Fragment<B, false>(of_b[j], stage + kStage, column + 16 * j, k);
#pragma unroll
        for (int i = 0; i < 16; ++i) {
          const int n = i % 4;
          MultiplyAdd<T>(sums[i / 4][n], of_a[i / 4], of_b[n / 2][n % 2 * 2], of_b[n / 2][n % 2 * 2 + 1]);
        }
      }
    }
    WaitForCopies();
    __syncthreads();
    const auto tile = reinterpret_cast<ResultTile>(memory);
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const int m = i / 8, n = i / 2 % 4, half = i % 2;
      const float2 pair = {sums[m][n][2 * half], sums[m][n][2 * half + 1]};
      *reinterpret_cast<float2*>(&tile[row + 16 * m + lane / 4 + 8 * half][column + 8 * n + lane % 4 * 2]) = pair;
    }
    __syncthreads();
  }
};

}  // namespace kk_cuda
