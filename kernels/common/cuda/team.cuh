// Sums and maxima over the threads that share a row: a warp, of which a block has several, or a whole block. All of them call together.
#pragma once

#include "numbers.cuh"

namespace kk_cuda {

template <int kCount>
struct Team {
  static constexpr int kThreads = kCount;
  static constexpr int kBlock = kThreads < 128 ? 128 : kThreads;  // threads of a block
  static constexpr int kTeams = kBlock / kThreads;

  static __device__ int Rank() { return static_cast<int>(threadIdx.x) % kThreads; }
  static __device__ long long Row() {
    return static_cast<long long>(blockIdx.x) * kTeams + static_cast<int>(threadIdx.x) / kThreads;
  }
  static __device__ void Sync() {
    if (kThreads == 32) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }

  // op(a, b): of two numbers, in any order.
  template <class S, class Op>
  static __device__ S Reduce(S x, const Op& op) {
#pragma unroll
    for (int i = 16; i > 0; i /= 2) x = op(x, __shfl_xor_sync(~0u, x, i));
    if (kThreads == 32) return x;
    __shared__ S of_warps[kThreads / 32];
    __syncthreads();  // what the call before left has been read
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = x;
    __syncthreads();
    S total = of_warps[0];
#pragma unroll
    for (int i = 1; i < kThreads / 32; ++i) total = op(total, of_warps[i]);
    return total;
  }

  template <class S>
  static __device__ S Sum(S x) {
    return Reduce(x, [](S a, S b) { return a + b; });
  }
  // Of several numbers at once, with the barriers of one.
  template <class S, int kSums>
  static __device__ void Sum(S (&x)[kSums]) {
    struct All {
      S at[kSums];
    };
    __shared__ All of_warps[kThreads / 32];
#pragma unroll
    for (int s = 0; s < kSums; ++s) {
#pragma unroll
      for (int i = 16; i > 0; i /= 2) x[s] += __shfl_xor_sync(~0u, x[s], i);
    }
    if (kThreads == 32) return;
    __syncthreads();  // as above
    if (threadIdx.x % 32 == 0) {
#pragma unroll
      for (int s = 0; s < kSums; ++s) of_warps[threadIdx.x / 32].at[s] = x[s];
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < kSums; ++s) {
      x[s] = of_warps[0].at[s];
#pragma unroll
      for (int i = 1; i < kThreads / 32; ++i) x[s] += of_warps[i].at[s];
    }
  }
  // Leaving out NaNs.
  template <class S>
  static __device__ S Max(S x) {
    return Reduce(x, [](S a, S b) { return fmax(a, b); });
  }
};

}  // namespace kk_cuda
