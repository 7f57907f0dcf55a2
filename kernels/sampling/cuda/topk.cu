// topk and its gradient, and apply_repetition_penalty: a block per row.
#include <cassert>

#include "select.cuh"

namespace kk_cuda {
namespace {

// The largest first: bitonic sorting of `count` places, a power of two.
__device__ void Sort(Place* places, int count) {
  for (int run = 2; run <= count; run *= 2) {
    for (int step = run / 2; step > 0; step /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < count / 2; i += kLogitThreads) {
        const int a = i / step * 2 * step + i % step, b = a + step;
        const Place x = places[a], y = places[b];
        if ((a & run) == 0 ? x < y : x > y) places[a] = y, places[b] = x;
      }
    }
  }
  __syncthreads();
}

template <class T>
__device__ void Topk(const T* x, T* values, int* indices, Place* memory, const TopkParams& p) {
  extern __shared__ Place in_shared[];
  __shared__ Selection<unsigned> selection;
  __shared__ int filled;
  Place* const places = p.shared ? in_shared : memory + static_cast<long long>(blockIdx.x) * p.held;
  const T* const row = x + static_cast<long long>(blockIdx.x) * p.width;
  const auto place = [&](int i) { return GetPlace(Number(row[i]), i); };
  const Elements all = {nullptr, p.width};
  const Place last = Select(selection, all, kPlaceBits, static_cast<unsigned>(p.k), place, [](int) { return 1u; });
  if (threadIdx.x == 0) filled = 0;
  for (int i = p.k + threadIdx.x; i < p.held; i += kLogitThreads) places[i] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < p.width; i += kLogitThreads) {
    if (place(i) >= last) places[atomicAdd(&filled, 1)] = place(i);
  }
  Sort(places, p.held);
  for (int i = threadIdx.x; i < p.k; i += kLogitThreads) {
    const long long at = static_cast<long long>(blockIdx.x) * p.k + i;
    indices[at] = GetIndex(places[i]);
    values[at] = row[indices[at]];
  }
}

template <class T>
__device__ void TopkBackward(const T* d_values, const int* indices, T* d_x, const TopkParams& p) {
  T* const row = d_x + static_cast<long long>(blockIdx.x) * p.width;
  for (int i = threadIdx.x; i < p.width; i += kLogitThreads) Put(0.f, row + i);
  __syncthreads();
  for (int i = threadIdx.x; i < p.k; i += kLogitThreads) {
    const long long at = static_cast<long long>(blockIdx.x) * p.k + i;
    const int index = indices[at];
    const bool topk_index_is_of_the_row = index >= 0 && index < p.width;
    assert(topk_index_is_of_the_row);
    if (topk_index_is_of_the_row) row[index] = d_values[at];
  }
}

// The new logit of each token is computed before any logit is written: so a token that comes several times counts once.
template <class T, class I>
__device__ void Penalize(T* row, const I* tokens, T* memory, const PenaltyParams& p) {
  for (long long i = threadIdx.x; i < p.count; i += kLogitThreads) {
    const long long token = tokens[i];
    const bool penalized_token_has_a_logit = token < p.width;  // a negative one is padding
    assert(penalized_token_has_a_logit);
    if (token < 0 || !penalized_token_has_a_logit) continue;
    const double value = Number(row[token]);
    Put(static_cast<float>(value < 0 ? value * p.penalty : value / p.penalty), memory + i);
  }
  __syncthreads();
  for (long long i = threadIdx.x; i < p.count; i += kLogitThreads) {
    if (tokens[i] >= 0 && tokens[i] < p.width) row[tokens[i]] = memory[i];
  }
}

template <class T>
__device__ void Penalize(T* logits, const void* tokens, T* memory, const PenaltyParams& p) {
  const long long row = blockIdx.x;
  if (p.wide) {
    Penalize(logits + row * p.width, static_cast<const long long*>(tokens) + row * p.count, memory + row * p.count, p);
  } else {
    Penalize(logits + row * p.width, static_cast<const int*>(tokens) + row * p.count, memory + row * p.count, p);
  }
}

}  // namespace
}  // namespace kk_cuda

#define KK_TOPK(name, T)                                                                                \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kLogitThreads)                                  \
      topk_##name(const T* x, T* values, int* indices, kk_cuda::Place* memory, kk_cuda::TopkParams p) { \
    kk_cuda::Topk(x, values, indices, memory, p);                                                       \
  }                                                                                                     \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kLogitThreads)                                  \
      topk_backward_##name(const T* d_values, const int* indices, T* d_x, kk_cuda::TopkParams p) {      \
    kk_cuda::TopkBackward(d_values, indices, d_x, p);                                                   \
  }                                                                                                     \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kLogitThreads)                                  \
      penalize_##name(T* logits, const void* tokens, T* memory, kk_cuda::PenaltyParams p) {             \
    kk_cuda::Penalize(logits, tokens, memory, p);                                                       \
  }
KK_TOPK(f32, float)
KK_TOPK(f16, __half)
KK_TOPK(bf16, __nv_bfloat16)
