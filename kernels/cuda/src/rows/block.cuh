// Sums and maxima over a block's threads, of elements that a row has: kRowThreads threads call them together, any number of times.
#pragma once

#include "numbers.cuh"

namespace kk_cuda {

constexpr int kRowThreads = 128;

template <class S>
__device__ inline S BlockSum(S x) {
  __shared__ S sums[kRowThreads / 32];
  for (int i = 16; i > 0; i /= 2) x += __shfl_xor_sync(~0u, x, i);
  __syncthreads();  // what the sum before left has been read
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = x;
  __syncthreads();
  S total = 0;
  for (int i = 0; i < kRowThreads / 32; ++i) total += sums[i];
  return total;
}

// The sum over the row of get(i), in S.
template <class S, class Get>
__device__ inline S RowSum(int width, Get get) {
  S sum = 0;
  for (int i = threadIdx.x; i < width; i += kRowThreads) sum += static_cast<S>(get(i));
  return BlockSum(sum);
}

// The largest |get(i)|, leaving out NaNs.
template <class Get>
__device__ inline double RowMax(int width, Get get) {
  __shared__ double largest[kRowThreads / 32];
  double x = 0;
  for (int i = threadIdx.x; i < width; i += kRowThreads) x = fmax(x, fabs(static_cast<double>(get(i))));
  for (int i = 16; i > 0; i /= 2) x = fmax(x, __shfl_xor_sync(~0u, x, i));
  __syncthreads();  // as above
  if (threadIdx.x % 32 == 0) largest[threadIdx.x / 32] = x;
  __syncthreads();
  for (int i = 0; i < kRowThreads / 32; ++i) x = fmax(x, largest[i]);
  return x;
}

// Whether a sum neither overflowed nor lost digits to a number near zero.
template <class S>
__device__ inline bool IsModerate(S sum) {
  constexpr double kLarge = sizeof(S) == 4 ? 1e30 : 1e250;
  return sum == 0 || (fabs(sum) < kLarge && fabs(sum) > 1 / kLarge);
}

}  // namespace kk_cuda
