// Numbers that lie beside each other, 16 bytes at a time, and rows that the registers of some threads hold.
#pragma once

#include "numbers.cuh"

namespace kk_cuda {

template <class T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) Numbers {
  T at[kCount];
};

template <class T>
constexpr int kChunk = 16 / sizeof(T);
template <class T>
using Chunk = Numbers<T, kChunk<T>>;

template <class T>
__device__ inline Chunk<T> LoadChunk(const T* from) {
  return *reinterpret_cast<const Chunk<T>*>(from);
}
template <class T>
__device__ inline void StoreChunk(const Chunk<T>& chunk, T* to) {
  *reinterpret_cast<Chunk<T>*>(to) = chunk;
}

template <int kCount, class S, class T>
__device__ inline void Convert(S (&to)[kCount], const T* from) {
  const auto numbers = *reinterpret_cast<const Numbers<T, kCount>*>(from);
#pragma unroll
  for (int i = 0; i < kCount; ++i) to[i] = static_cast<S>(Number(numbers.at[i]));
}

// `kCount` numbers from `at` on, a multiple of it, most likely of T.
template <class T, int kCount, class S>
__device__ inline void LoadNumbers(S (&to)[kCount], NumberKind kind, const void* from, int at) {
  if (kind == kKindOf<T>) return Convert(to, static_cast<const T*>(from) + at);
  if (kind == kNumberF32) return Convert(to, static_cast<const float*>(from) + at);
  if (kind == kNumberF64) return Convert(to, static_cast<const double*>(from) + at);
  if (kind == kNumberF16) return Convert(to, static_cast<const __half*>(from) + at);
  Convert(to, static_cast<const __nv_bfloat16*>(from) + at);
}

constexpr int kHeld = 4;  // chunks that a thread holds at most

// A row of up to kHeld chunks for each of `kThreads` threads: the first of all, then the second of all.
template <class T, int kThreads>
struct Held {
  Chunk<T> chunks[kHeld];
  int width;

  static __device__ int At(int chunk) {
    return (chunk * kThreads + static_cast<int>(threadIdx.x) % kThreads) * kChunk<T>;
  }

  __device__ Held(const T* from, int width) : width(width) {
#pragma unroll
    for (int c = 0; c < kHeld; ++c) {
      if (At(c) < width) chunks[c] = LoadChunk(from + At(c));
    }
  }

  // f(chunk, where it begins)
  template <class F>
  __device__ void ForChunks(const F& f) {
#pragma unroll
    for (int c = 0; c < kHeld; ++c) {
      if (At(c) < width) f(chunks[c], At(c));
    }
  }

  // f(number)
  template <class F>
  __device__ void ForNumbers(const F& f) {
    ForChunks([&](const Chunk<T>& chunk, int) {
#pragma unroll
      for (int i = 0; i < kChunk<T>; ++i) f(Number(chunk.at[i]));
    });
  }
};

}  // namespace kk_cuda
