// The work of a block: a run of the numbers of one tensor of a list.
#pragma once

#include "common/cuda/chunks.cuh"
#include "lists.h"

namespace kk_cuda {

template <int kCount>
struct Extent {
  static constexpr int kNumbers = kCount;
};

template <int kCount, class T>
__device__ inline void StoreNumbers(const float (&from)[kCount], T* to) {
  Numbers<T, kCount> numbers;
#pragma unroll
  for (int i = 0; i < kCount; ++i) Put(from[i], &numbers.at[i]);
  *reinterpret_cast<Numbers<T, kCount>*>(to) = numbers;
}

struct Run {
  int tensor;
  long long begin, end;

  __device__ explicit Run(const ListPart& list) : tensor(0) {
    for (int step = 32; step > 0; step /= 2) {
      const int next = tensor + step;
      if (next < list.tensors && list.first_block[next] <= blockIdx.x) tensor = next;
    }
    begin = static_cast<long long>(blockIdx.x - list.first_block[tensor]) * kRun;
    end = begin + kRun < list.count[tensor] ? begin + kRun : list.count[tensor];
  }

  template <class T>
  __device__ T* Of(const ListPart& list, int which) const {
    return static_cast<T*>(list.at[which][tensor]);
  }
};

// f(where, Extent<n>): for n numbers from there on, of which no other thread has any.
template <class F>
__device__ inline void ForNumbers(const ListPart& list, const Run& run, const F& f) {
  constexpr int kEach = 4;
  long long at = run.begin;
  if (list.aligned >> run.tensor & 1) {
    for (long long i = at + kEach * threadIdx.x; i + kEach <= run.end; i += kEach * kRunThreads) f(i, Extent<kEach>());
    at = run.end - (run.end - run.begin) % kEach;
  }
  for (long long i = at + threadIdx.x; i < run.end; i += kRunThreads) f(i, Extent<1>());
}

}  // namespace kk_cuda
