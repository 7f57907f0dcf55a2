// The norm of a list of gradients, in three kernels: a sum of squares per run, their sum, and what scales the runs.
#include "common/cuda/team.cuh"
#include "runs.cuh"

namespace kk_cuda {
namespace {

using Block = Team<kRunThreads>;

template <class T>
__device__ void SumOfSquares(const ListPart& list, float* sums) {
  const Run run(list);
  const T* const x = run.Of<T>(list, 0);
  float sum = 0;
  ForNumbers(list, run, [&](long long at, auto extent) {
    constexpr int kCount = decltype(extent)::kNumbers;
    float v[kCount];
    Convert(v, x + at);
#pragma unroll
    for (int i = 0; i < kCount; ++i) sum += v[i] * v[i];
  });
  sum = Block::Sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <class T>
__device__ void Scale(const ListPart& list, const float* norm, float max_norm) {
  const float factor = max_norm / (*norm + 1e-6f);
  if (factor >= 1) return;  // a NaN goes on: gradients that are NaN anyway
  const Run run(list);
  T* const x = run.Of<T>(list, 0);
  ForNumbers(list, run, [&](long long at, auto extent) {
    constexpr int kCount = decltype(extent)::kNumbers;
    float v[kCount];
    Convert(v, x + at);
#pragma unroll
    for (int i = 0; i < kCount; ++i) v[i] *= factor;
    StoreNumbers(v, x + at);
  });
}

}  // namespace
}  // namespace kk_cuda

extern "C" __global__ void __launch_bounds__(kk_cuda::kRunThreads)
    norm_of_sums(const float* sums, long long count, float* norm) {
  double sum = 0;
  for (long long i = threadIdx.x; i < count; i += kk_cuda::kRunThreads) sum += sums[i];
  sum = kk_cuda::Block::Sum(sum);
  if (threadIdx.x == 0) *norm = static_cast<float>(sqrt(sum));
}

#define KK_NORM(name, T)                                                                                \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kRunThreads)                                    \
      sum_of_squares_##name(const __grid_constant__ kk_cuda::ListPart list, float* sums) {              \
    kk_cuda::SumOfSquares<T>(list, sums);                                                               \
  }                                                                                                     \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kRunThreads)                                    \
      scale_##name(const __grid_constant__ kk_cuda::ListPart list, const float* norm, float max_norm) { \
    kk_cuda::Scale<T>(list, norm, max_norm);                                                            \
  }
KK_NORM(f32, float)
KK_NORM(f16, __half)
KK_NORM(bf16, __nv_bfloat16)
