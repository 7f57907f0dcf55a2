// layer_norm and rms_norm, also of a sum: a block per row. Sums are f32, of f64 rows f64; where one of f32 overflows or vanishes, it is
// formed again in f64.
#include "numbers.cuh"

namespace kk_cuda {
namespace {

constexpr int kThreads = 128;

template <class S>
__device__ S BlockSum(S x) {
  __shared__ S sums[kThreads / 32];
  for (int i = 16; i > 0; i /= 2) x += __shfl_xor_sync(~0u, x, i);
  __syncthreads();  // what the sum before left has been read
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = x;
  __syncthreads();
  S total = 0;
  for (int i = 0; i < kThreads / 32; ++i) total += sums[i];
  return total;
}

// The mean over the row of square(x - center), in S.
template <class S, class Get>
__device__ S MeanSquare(int width, S center, Get get) {
  S sum = 0;
  for (int i = threadIdx.x; i < width; i += kThreads) {
    const S x = static_cast<S>(get(i)) - center;
    sum += x * x;
  }
  return BlockSum(sum) / width;
}

template <class S, class Get>
__device__ S Mean(int width, Get get) {
  S sum = 0;
  for (int i = threadIdx.x; i < width; i += kThreads) sum += static_cast<S>(get(i));
  return BlockSum(sum) / width;
}

// get(i): element i of the row, a Compute<T>.
template <bool kLayer, class T, class Get>
__device__ void Normalise(const NormParams& p, const void* weight, const void* bias, T* out, Get get) {
  using S = Compute<T>;
  S mean = kLayer ? Mean<S>(p.width, get) : S{0};
  double square = MeanSquare<S>(p.width, mean, get);
  double center = mean;
  if (!(square < 1e30 && (square > 1e-30 || square == 0)) || (square == 0 && sizeof(S) == 4)) {
    center = kLayer ? Mean<double>(p.width, get) : 0.0;
    square = MeanSquare<double>(p.width, center, get);
  }
  const double scale = 1 / sqrt(square + p.eps);
  const bool wide = !(scale < 1e30 && fabs(center) < 1e30);  // beyond f32
  for (int i = threadIdx.x; i < p.width; i += kThreads) {
    S x = wide ? static_cast<S>((static_cast<double>(get(i)) - center) * scale)
               : (get(i) - static_cast<S>(center)) * static_cast<S>(scale);
    x *= NumberAt<S>(p.weight, weight, i);
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
  for (int i = threadIdx.x; i < p.width; i += kThreads) Put(Number(x[at + i]) + Number(residual[at + i]), sum + at + i);
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
