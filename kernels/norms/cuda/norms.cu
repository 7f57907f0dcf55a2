// layer_norm and rms_norm, also of a sum, of rows that norms_held.cu doesn't take: a block per row. Their gradients: norms_backward.cu.
#include "moments.cuh"

namespace kk_cuda {
namespace {

// get(i): element i of the row, a Compute<T>.
template <bool kLayer, class T, class Get>
__device__ void Normalise(const NormParams& p, const void* weight, const void* bias, T* out, Get get) {
  using S = Compute<T>;
  const Moments<S> moments = ComputeMoments<kLayer, S>(p.width, p.per_element, p.eps, get);
  for (int i = threadIdx.x; i < p.width; i += kRowThreads) {
    S x = moments.Unit(get(i)) * NumberAt<S>(p.weight, weight, i);
    if (p.has_bias) x += NumberAt<S>(p.weight, bias, i);
    Put(x, out + i);
  }
}

template <bool kLayer, class T>
__device__ void Norm(const T* x, const void* weight, const void* bias, T* out, const NormParams& p) {
  const long long row = blockIdx.x;
  const T* const from = x + RowOffset(p.x, row);
  Normalise<kLayer, T>(p, weight, bias, out + row * p.width, [&](int i) { return Number(from[i * p.x.step]); });
}

template <bool kLayer, class T>
__device__ void AddNorm(const T* x, const T* residual, const void* weight, const void* bias, T* out, T* sum,
                        const NormParams& p) {
  const long long at = static_cast<long long>(blockIdx.x) * p.width;
  for (int i = threadIdx.x; i < p.width; i += kRowThreads)
    Put(Number(x[at + i]) + Number(residual[at + i]), sum + at + i);
  // Each thread reads what it has written.
  Normalise<kLayer, T>(p, weight, bias, out + at, [&](int i) { return Number(sum[at + i]); });
}

}  // namespace
}  // namespace kk_cuda

#define KK_NORMS(name, T)                                                                                           \
  extern "C" __global__ void __launch_bounds__(128)                                                                 \
      layer_norm_##name(const T* x, const void* weight, const void* bias, T* out, kk_cuda::NormParams p) {          \
    kk_cuda::Norm<true>(x, weight, bias, out, p);                                                                   \
  }                                                                                                                 \
  extern "C" __global__ void __launch_bounds__(128)                                                                 \
      rms_norm_##name(const T* x, const void* weight, const void* bias, T* out, kk_cuda::NormParams p) {            \
    kk_cuda::Norm<false>(x, weight, bias, out, p);                                                                  \
  }                                                                                                                 \
  extern "C" __global__ void __launch_bounds__(128) add_layer_norm_##name(                                          \
      const T* x, const T* residual, const void* weight, const void* bias, T* out, T* sum, kk_cuda::NormParams p) { \
    kk_cuda::AddNorm<true>(x, residual, weight, bias, out, sum, p);                                                 \
  }                                                                                                                 \
  extern "C" __global__ void __launch_bounds__(128) add_rms_norm_##name(                                            \
      const T* x, const T* residual, const void* weight, const void* bias, T* out, T* sum, kk_cuda::NormParams p) { \
    kk_cuda::AddNorm<false>(x, residual, weight, bias, out, sum, p);                                                \
  }
KK_NORMS(f32, float)
KK_NORMS(f64, double)
KK_NORMS(f16, __half)
KK_NORMS(bf16, __nv_bfloat16)
