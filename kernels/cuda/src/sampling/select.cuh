// Which element of an order is reached by a sum of weights: radix selection, as in Alabi et al., "Fast k-selection algorithms for
// graphics processing units", ACM JEA 2012, with weights for counts. Weights are integers: their sums are the same in any order.
#pragma once

#include "places.cuh"

namespace kk_cuda {

constexpr int kDigitBits = 11, kDigits = 1 << kDigitBits;

template <class Weight>
struct Selection {
  Weight of_digits[kDigits];
  Weight of_warps[kLogitThreads / 32];
  Weight before;  // of the digits before the one that was found
  unsigned digit;
  int others;
  Place only;
};

// The digit, from the largest down, at which the sum reaches `target`; `target` becomes what is left to reach in it.
template <class Weight>
__device__ inline unsigned FindDigit(Selection<Weight>& s, Weight* target) {
  constexpr int kEach = kDigits / kLogitThreads;
  const int first = kDigits - 1 - kEach * static_cast<int>(threadIdx.x);  // a thread's digits, downwards
  Weight own = 0;
  for (int i = 0; i < kEach; ++i) own += s.of_digits[first - i];
  Weight upto = own;  // of this thread's and all before it in the warp
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int step = 1; step < 32; step *= 2) {
    const Weight other = __shfl_up_sync(~0u, upto, step);
    if (lane >= step) upto += other;
  }
  if (lane == 31) s.of_warps[warp] = upto;
  __syncthreads();
  for (int i = 0; i < warp; ++i) upto += s.of_warps[i];
  if (upto - own < *target && *target <= upto) {  // of one thread
    Weight before = upto - own;
    int digit = first;
    while (before + s.of_digits[digit] < *target) before += s.of_digits[digit--];
    s.digit = static_cast<unsigned>(digit), s.before = before;
  }
  __syncthreads();
  *target -= s.before;
  return s.digit;
}

// The place at which the sum of weights, from the largest place on, reaches `target`, which is from 1 to the sum of all. place(i) and
// weight(i): of element i. Places have `bits` bits. The block's threads call it together.
template <class Weight, class PlaceAt, class WeightAt>
__device__ inline Place Select(Selection<Weight>& s, int width, int bits, Weight target, const PlaceAt& place,
                               const WeightAt& weight) {
  Place found = 0;  // the digits above `bits`
  while (bits > 0) {
    const int left = bits > kDigitBits ? bits - kDigitBits : 0;
    __syncthreads();  // what the caller or the round before left has been read
    for (int i = threadIdx.x; i < kDigits; i += kLogitThreads) s.of_digits[i] = 0;
    if (threadIdx.x == 0) s.others = 0;
    __syncthreads();
    // Neighbours often have the same digit: their weights are added up before the atomic operation.
    unsigned last = 0;
    Weight sum = 0;
    for (int i = threadIdx.x; i < width; i += kLogitThreads) {
      const Place at = place(i);
      if (bits < kPlaceBits && at >> bits != found >> bits) continue;
      const Weight of = weight(i);
      if (of == 0) continue;
      const auto digit = static_cast<unsigned>(at >> left) & ((1u << (bits - left)) - 1);
      if (digit != last && sum != 0) atomicAdd(&s.of_digits[last], sum), sum = 0;
      last = digit, sum += of;
    }
    if (sum != 0) atomicAdd(&s.of_digits[last], sum);
    __syncthreads();
    found |= static_cast<Place>(FindDigit(s, &target)) << left;
    bits = left;
    if (bits != 31) continue;
    // All digits of the value: most often one element has it.
    for (int i = threadIdx.x; i < width; i += kLogitThreads) {
      const Place at = place(i);
      if (at >> bits == found >> bits && weight(i) != 0 && atomicAdd(&s.others, 1) == 0) s.only = at;
    }
    __syncthreads();
    if (s.others == 1) return s.only;
  }
  return found;
}

}  // namespace kk_cuda
