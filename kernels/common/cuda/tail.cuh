// The largest element of a row and the sum of exponentials in one pass, the sum being scaled whenever a larger element comes
// (M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax").
#pragma once

#include "block.cuh"

namespace kk_cuda {

template <class S>
__device__ inline S Lowest() {
  return -static_cast<S>(INFINITY);
}

// The largest of some elements, and the sum of exp(element - largest). Nothing kept: -inf and 0. A NaN stays one.
template <class S>
struct Tail {
  S largest, sum;

  __device__ void Add(const Tail& other) {
    const S most = largest > other.largest || largest != largest ? largest : other.largest;
    if (most == Lowest<S>()) return;  // exp(-inf - -inf) would be a NaN
    sum = sum * exp(largest - most) + other.sum * exp(other.largest - most);
    largest = most;
  }
};

template <class S>
__device__ inline Tail<S> BlockTail(Tail<S> mine) {
  __shared__ Tail<S> tails[kRowThreads / 32];
  for (int i = 16; i > 0; i /= 2) {
    mine.Add({__shfl_xor_sync(~0u, mine.largest, i), __shfl_xor_sync(~0u, mine.sum, i)});
  }
  __syncthreads();  // what the call before left has been read
  if (threadIdx.x % 32 == 0) tails[threadIdx.x / 32] = mine;
  __syncthreads();
  Tail<S> total = tails[0];
  for (int i = 1; i < kRowThreads / 32; ++i) total.Add(tails[i]);
  return total;
}

// Of get(i), for i < width.
template <class S, class Get>
__device__ inline Tail<S> RowTail(int width, Get get) {
  Tail<S> mine = {Lowest<S>(), 0};
  if constexpr (sizeof(S) == 8) {  // in two passes: around two exp() of f64 registers would be spilled
    for (int i = threadIdx.x; i < width; i += kRowThreads) mine.largest = fmax(mine.largest, get(i));
    mine.largest = Team<kRowThreads>::Max(mine.largest);
    const S origin = mine.largest == Lowest<S>() ? 0 : mine.largest;
    for (int i = threadIdx.x; i < width; i += kRowThreads) mine.sum += exp(get(i) - origin);
    mine.sum = Team<kRowThreads>::Sum(mine.sum);
    return mine;
  } else {
    for (int i = threadIdx.x; i < width; i += kRowThreads) mine.Add({get(i), 1});
    return BlockTail(mine);
  }
}

}  // namespace kk_cuda
