// layer_norm and rms_norm, also of a sum: a block per row. Sums are f32, of f64 rows f64; where one overflows or vanishes, it is formed
// again in f64, of the row divided by a power of two near its largest element.
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

template <class Get>
__device__ double BlockMax(int width, Get get) {
  __shared__ double largest[kThreads / 32];
  double x = 0;
  for (int i = threadIdx.x; i < width; i += kThreads) x = fmax(x, fabs(static_cast<double>(get(i))));
  for (int i = 16; i > 0; i /= 2) x = fmax(x, __shfl_xor_sync(~0u, x, i));
  if (threadIdx.x % 32 == 0) largest[threadIdx.x / 32] = x;
  __syncthreads();
  for (int i = 0; i < kThreads / 32; ++i) x = fmax(x, largest[i]);
  return x;
}

// What a row is multiplied with so that its squares are ordinary numbers. With eps, whose share grows by the factor's square, small rows
// stay small beside it.
__device__ inline double FactorFor(double largest, double eps) {
  if (largest == 0 || !isfinite(largest)) return 1;
  return scalbn(1.0, min(eps > 0 ? 500 : 1000, -ilogb(largest)));
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
  // What the mean's rounding leaves over is subtracted, too: of a row far from zero it is many units of the result.
  const S mean = kLayer ? Mean<S>(p.width, get) : S{0};
  const S rest = kLayer ? Mean<S>(p.width, [&](int i) { return static_cast<S>(get(i)) - mean; }) : S{0};
  const S square = MeanSquare<S>(p.width, mean, get) - rest * rest;
  double center = mean, factor = 1, scale = 1 / sqrt(static_cast<double>(square) + p.eps);
  constexpr double kLarge = sizeof(S) == 4 ? 1e30 : 1e250;
  const bool wide = !(square < kLarge && square > 1 / kLarge);
  if (wide) {
    factor = FactorFor(BlockMax(p.width, get), p.eps);
    const auto scaled = [&](int i) { return static_cast<double>(get(i)) * factor; };
    center = kLayer ? Mean<double>(p.width, scaled) : 0.0;
    scale = 1 / sqrt(MeanSquare<double>(p.width, center, scaled) + p.eps * factor * factor);
  }
  for (int i = threadIdx.x; i < p.width; i += kThreads) {
    S x = wide ? static_cast<S>((static_cast<double>(get(i)) * factor - center) * scale)
               : ((get(i) - mean) - rest) * static_cast<S>(scale);
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
