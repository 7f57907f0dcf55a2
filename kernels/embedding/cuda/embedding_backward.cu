// The gradient of an embedding's table, which holds zeros before: a block per index and per kColumns columns. The block of a row's first
// index adds up d_out's rows of all its indices, in their order; the others have nothing to do. So a sum is the same on every run.
#include <cassert>

#include "common/cuda/block.cuh"

namespace kk_cuda {
namespace {

constexpr int kEach = 4, kColumns = kEach * kRowThreads;

template <class T, class I>
__device__ void Backward(const T* d_out, const I* indices, T* d_table, const EmbeddingBackwardParams& p) {
  const long long own = blockIdx.x, row = indices[own];
  const bool embedding_index_is_in_the_table = row >= 0 && row < p.table_rows;
  assert(embedding_index_is_in_the_table);
  if (!embedding_index_is_in_the_table || row == p.left_out) return;
  bool earlier = false;
  for (long long i = threadIdx.x; i < own && !earlier; i += kRowThreads) earlier = indices[i] == row;
  if (__syncthreads_or(earlier)) return;

  __shared__ int found[kRowThreads];  // whether index `first` + i is of the row
  Compute<T> sums[kEach] = {};
  for (long long first = own; first < p.count; first += kRowThreads) {
    const long long at = first + threadIdx.x;
    const bool mine = at < p.count && indices[at] == row;
    found[threadIdx.x] = mine;
    if (__syncthreads_or(mine)) {
      for (int i = 0; i < kRowThreads; ++i) {
        if (!found[i]) continue;
        for (int c = 0; c < kEach; ++c) {
          const long long column = static_cast<long long>(blockIdx.y) * kColumns + c * kRowThreads + threadIdx.x;
          if (column < p.width) sums[c] += Number(d_out[(first + i) * p.width + column]);
        }
      }
    }
    __syncthreads();  // before `found` is written again
  }
  for (int c = 0; c < kEach; ++c) {
    const long long column = static_cast<long long>(blockIdx.y) * kColumns + c * kRowThreads + threadIdx.x;
    if (column < p.width) Put(sums[c], d_table + row * p.width + column);
  }
}

template <class T>
__device__ void Backward(const T* d_out, const void* indices, T* d_table, const EmbeddingBackwardParams& p) {
  if (p.wide) {
    Backward(d_out, static_cast<const long long*>(indices), d_table, p);
  } else {
    Backward(d_out, static_cast<const int*>(indices), d_table, p);
  }
}

}  // namespace
}  // namespace kk_cuda

// Of `bytes` that begin at a multiple of 16: a thread per 16 of them.
extern "C" __global__ void __launch_bounds__(128) fill_zeros(char* to, long long bytes) {
  const long long at = 16 * (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x);
  if (at + 16 <= bytes) {
    *reinterpret_cast<uint4*>(to + at) = {};
  } else {
    for (long long i = at; i < bytes; ++i) to[i] = 0;
  }
}

#define KK_EMBEDDING_BACKWARD(name, T)                                                                                 \
  extern "C" __global__ void __launch_bounds__(128)                                                                    \
      embedding_backward_##name(const T* d_out, const void* indices, T* d_table, kk_cuda::EmbeddingBackwardParams p) { \
    kk_cuda::Backward(d_out, indices, d_table, p);                                                                     \
  }
KK_EMBEDDING_BACKWARD(f32, float)
KK_EMBEDDING_BACKWARD(f64, double)
KK_EMBEDDING_BACKWARD(f16, __half)
KK_EMBEDDING_BACKWARD(bf16, __nv_bfloat16)
