// Which element of an order is reached by a sum of weights: radix selection, as in Alabi et al., "Fast k-selection algorithms for
// graphics processing units", ACM JEA 2012, with weights for counts. Weights are integers: their sums are the same in any order.
#pragma once

#include "places.cuh"

namespace kk_cuda {

constexpr int kDigitBits = 11, kDigits = 1 << kDigitBits;
constexpr int kShortList = 1024;  // elements that are kept in shared memory, at most

// Elements of a row: all of them, or those of a list.
struct Elements {
  const int* list;  // null: all
  int count;

  // f(index), by the block's threads.
  template <class F>
  __device__ void ForEach(const F& f) const {
    if (list == nullptr) {
      for (int i = threadIdx.x; i < count; i += kLogitThreads) f(i);
    } else {
      for (int i = threadIdx.x; i < count; i += kLogitThreads) f(list[i]);
    }
  }
};

// Those that are(index) says yes to, in shared memory: fewer to go through from then on. As many as were, where there is no room.
struct ShortList {
  int list[kShortList];
  int count;

  template <class F>
  __device__ Elements Of(const Elements& elements, const F& are) {
    if (elements.count <= kLogitThreads) return elements;  // which one pass goes through
    __syncthreads();
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    elements.ForEach([&](int i) {
      if (!are(i)) return;
      const int at = atomicAdd(&count, 1);
      if (at < kShortList) list[at] = i;
    });
    __syncthreads();
    return count <= kShortList ? Elements{list, count} : elements;
  }
};

template <class Weight>
struct Selection {
  Weight of_digits[kDigits];
  Weight of_warps[kLogitThreads / 32];
  Weight before;  // of the digits before the one that was found
  unsigned digit;
  int others;
  Place only;
  ShortList short_list;  // those whose first digits have been found
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
__device__ inline Place Select(Selection<Weight>& s, Elements elements, int bits, Weight target, const PlaceAt& place,
                               const WeightAt& weight) {
  Place found = 0;  // the digits above `bits`
  const auto agrees = [&](int i) { return bits == kPlaceBits || place(i) >> bits == found >> bits; };
  while (bits > 0) {
    const int left = bits > kDigitBits ? bits - kDigitBits : 0;
    __syncthreads();  // what the caller or the round before left has been read
    for (int i = threadIdx.x; i < kDigits; i += kLogitThreads) s.of_digits[i] = 0;
    if (threadIdx.x == 0) s.others = 0;
    __syncthreads();
    // Neighbours often have the same digit: their weights are added up before the atomic operation.
    unsigned last = 0;
    Weight sum = 0;
    elements.ForEach([&](int i) {
      if (!agrees(i)) return;
      const Weight of = weight(i);
      if (of == 0) return;
      const auto digit = static_cast<unsigned>(place(i) >> left) & ((1u << (bits - left)) - 1);
      if (digit != last && sum != 0) atomicAdd(&s.of_digits[last], sum), sum = 0;
      last = digit, sum += of;
    });
    if (sum != 0) atomicAdd(&s.of_digits[last], sum);
    __syncthreads();
    found |= static_cast<Place>(FindDigit(s, &target)) << left;
    bits = left;
    if (elements.list != s.short_list.list && bits > 0) elements = s.short_list.Of(elements, agrees);
    if (bits != 31) continue;
    // All digits of the value: most often one element has it.
    elements.ForEach([&](int i) {
      if (agrees(i) && weight(i) != 0 && atomicAdd(&s.others, 1) == 0) s.only = place(i);
    });
    __syncthreads();
    if (s.others == 1) return s.only;
  }
  return found;
}

}  // namespace kk_cuda
