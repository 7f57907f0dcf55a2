// softmax and its gradient of rows that the registers of a warp or a block hold. softmax.cu takes the others.
#include "common/cuda/chunks.cuh"
#include "common/cuda/tail.cuh"
#include "common/cuda/team.cuh"

namespace kk_cuda {
namespace {

// The scores of `numbers`, which begin at `at` of the row, with the mask's.
template <int kCount>
__device__ inline void AddMask(float (&numbers)[kCount], const SoftmaxParams& p, const void* mask, long long at) {
  if (p.kind == kUnmasked) return;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (p.kind == kAdded) {
      numbers[i] += NumberAt<float>(p.added, mask, at + i);
    } else if (!static_cast<const bool*>(mask)[at + i]) {
      numbers[i] = Lowest<float>();
    }
  }
}

// exp(x) of what isn't above 0. A result that is rounded to 16 bits can be flushed to 0 where f32 has no normal number for it.
template <class T>
__device__ inline float ExpBelow(float x) {
  if constexpr (sizeof(T) > 2) return expf(x);
  float out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x * 1.4426950408889634f));
  return out;
}

template <int kThreads, class T>
__device__ void Softmax(const T* x, const void* mask, T* out, const SoftmaxParams& p) {
  using Row = Team<kThreads>;
  using Place = Held<T, kThreads>;
  constexpr int kCount = kChunk<T>;
  const long long row = Row::Row(), at = row * p.width;
  if (row >= p.rows) return;
  const long long masks = p.kind == kUnmasked ? 0 : RowOffset(p.mask, row);
  float held[kHeld][kCount];
  float largest = Lowest<float>();
#pragma unroll
  for (int c = 0; c < kHeld; ++c) {
    if (Place::At(c) >= p.width) continue;
    Convert(held[c], x + at + Place::At(c));
    AddMask(held[c], p, mask, masks + Place::At(c));
#pragma unroll
    for (int i = 0; i < kCount; ++i) largest = fmaxf(largest, held[c][i]);
  }
  largest = Row::Max(largest);
  if (largest == Lowest<float>()) largest = 0;  // nothing is kept: every exp() then is 0
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kHeld * kCount; ++i) {
    if (Place::At(i / kCount) >= p.width) continue;
    float& number = held[i / kCount][i % kCount];
    number = ExpBelow<T>(number - largest);
    sum += number;
  }
  sum = Row::Sum(sum);
  const float scale = sum == 0 ? 0 : 1 / sum;
#pragma unroll
  for (int c = 0; c < kHeld; ++c) {
    if (Place::At(c) >= p.width) continue;
    Chunk<T> result;
#pragma unroll
    for (int i = 0; i < kCount; ++i) Put(held[c][i] * scale, &result.at[i]);
    StoreChunk(result, out + at + Place::At(c));
  }
}

// By way of halves, as softmax_rows.cuh's.
template <int kThreads, class T>
__device__ void SoftmaxBackward(const T* d_probs, const T* probs, T* d_x, const SoftmaxParams& p) {
  using Row = Team<kThreads>;
  const long long row = Row::Row(), at = row * p.width;
  if (row >= p.rows) return;
  const Held<T, kThreads> d(d_probs + at, p.width);
  Held<T, kThreads> held(probs + at, p.width);
  float dot = 0;
#pragma unroll
  for (int i = 0; i < kHeld * kChunk<T>; ++i) {
    const int c = i / kChunk<T>, e = i % kChunk<T>;
    if (Held<T, kThreads>::At(c) < p.width) dot += 0.5f * Number(d.chunks[c].at[e]) * Number(held.chunks[c].at[e]);
  }
  dot = Row::Sum(dot);
#pragma unroll
  for (int c = 0; c < kHeld; ++c) {
    const int first = Held<T, kThreads>::At(c);
    if (first >= p.width) continue;
    Chunk<T>& chunk = held.chunks[c];
#pragma unroll
    for (int i = 0; i < kChunk<T>; ++i)
      Put(2 * ((0.5f * Number(d.chunks[c].at[i]) - dot) * Number(chunk.at[i])), &chunk.at[i]);
    StoreChunk(chunk, d_x + at + first);
  }
}

}  // namespace
}  // namespace kk_cuda

#define KK_SOFTMAX(name, T, threads)                                                                            \
  extern "C" __global__ void __launch_bounds__(kk_cuda::Team<threads>::kBlock) softmax_held_##name##_##threads( \
      const T* x, const void* mask, T* out, const __grid_constant__ kk_cuda::SoftmaxParams p) {                 \
    kk_cuda::Softmax<threads>(x, mask, out, p);                                                                 \
  }                                                                                                             \
  extern "C" __global__ void __launch_bounds__(kk_cuda::Team<threads>::kBlock)                                  \
      softmax_held_backward_##name##_##threads(const T* d_probs, const T* probs, T* d_x,                        \
                                               const __grid_constant__ kk_cuda::SoftmaxParams p) {              \
    kk_cuda::SoftmaxBackward<threads>(d_probs, probs, d_x, p);                                                  \
  }
#define KK_SOFTMAX_OF(name, T) KK_SOFTMAX(name, T, 32) KK_SOFTMAX(name, T, 128) KK_SOFTMAX(name, T, 512)
KK_SOFTMAX_OF(f32, float)
KK_SOFTMAX_OF(f16, __half)
KK_SOFTMAX_OF(bf16, __nv_bfloat16)
