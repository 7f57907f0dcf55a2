// cross_entropy of rows of logits, and its gradient: a block per row. Sums are f32.
#include "common/cuda/chunks.cuh"
#include "loss.cuh"
#include "common/cuda/tail.cuh"

namespace kk_cuda {
namespace {

// Of a row that is read in chunks, which are rescaled together.
template <class T>
__device__ inline Tail<float> ChunkTail(const T* from, int width) {
  Tail<float> mine = {Lowest<float>(), 0};
#pragma unroll 2
  for (int i = threadIdx.x * kChunk<T>; i < width; i += kRowThreads * kChunk<T>) {
    float of[kChunk<T>];
    Convert(of, from + i);
    float largest = mine.largest;
#pragma unroll
    for (int e = 0; e < kChunk<T>; ++e) largest = fmaxf(largest, of[e]);
    const float origin = largest == Lowest<float>() ? 0 : largest;  // exp(-inf - -inf) would be a NaN
    mine.sum *= expf(mine.largest - origin);
#pragma unroll
    for (int e = 0; e < kChunk<T>; ++e) mine.sum += expf(of[e] - origin);
    mine.largest = largest;
  }
  return BlockTail(mine);
}

template <class T>
__device__ void CrossEntropy(const T* logits, const void* targets, float* loss, float* lse,
                             const CrossEntropyParams& p) {
  const long long row = blockIdx.x, target = LoadTarget(p, targets, row);
  const T* const from = logits + RowOffset(p.logits, row);
  const auto get = [&](int i) { return Number(from[i * p.logits.step]); };
  if (target < 0) {
    if (threadIdx.x == 0) loss[row] = lse[row] = 0;
    return;
  }
  const Tail<float> tail = p.chunks ? ChunkTail(from, p.classes) : RowTail<float>(p.classes, get);
  const float mean = p.smoothing > 0 ? RowSum<float>(p.classes, get) / p.classes : 0;
  if (threadIdx.x != 0) return;
  const double sum = tail.largest + log(static_cast<double>(tail.sum)), at = get(target);
  lse[row] = static_cast<float>(sum);
  loss[row] = ComputeLoss(p, sum, at, mean);
}

template <class T>
__device__ void Backward(const float* d_loss, const T* logits, const void* targets, const float* lse, T* d_logits,
                         const CrossEntropyParams& p) {
  const long long row = blockIdx.x;
  const T* const from = logits + RowOffset(p.logits, row);
  T* const to = d_logits + row * p.classes;
  const Slope slope(p, LoadTarget(p, targets, row), lse[row], d_loss[row]);
  if (p.chunks) {
#pragma unroll 2
    for (int i = threadIdx.x * kChunk<T>; i < p.classes; i += kRowThreads * kChunk<T>) {
      Chunk<T> chunk = LoadChunk(from + i);
#pragma unroll
      for (int e = 0; e < kChunk<T>; ++e) Put(slope.Of(Number(chunk.at[e]), i + e), &chunk.at[e]);
      StoreChunk(chunk, to + i);
    }
    return;
  }
  for (int i = threadIdx.x; i < p.classes; i += kRowThreads) Put(slope.Of(Number(from[i * p.logits.step]), i), to + i);
}

}  // namespace
}  // namespace kk_cuda

#define KK_CROSS_ENTROPY(name, T)                                                                                \
  extern "C" __global__ void __launch_bounds__(128)                                                              \
      cross_entropy_##name(const T* logits, const void* targets, float* loss, float* lse,                        \
                           const __grid_constant__ kk_cuda::CrossEntropyParams p) {                              \
    kk_cuda::CrossEntropy(logits, targets, loss, lse, p);                                                        \
  }                                                                                                              \
  extern "C" __global__ void __launch_bounds__(128)                                                              \
      cross_entropy_backward_##name(const float* d_loss, const T* logits, const void* targets, const float* lse, \
                                    T* d_logits, const __grid_constant__ kk_cuda::CrossEntropyParams p) {        \
    kk_cuda::Backward(d_loss, logits, targets, lse, d_logits, p);                                                \
  }
KK_CROSS_ENTROPY(f32, float)
KK_CROSS_ENTROPY(f16, __half)
KK_CROSS_ENTROPY(bf16, __nv_bfloat16)
