// The gradients of layer_norm and rms_norm, also of a sum, of rows that norms_held_backward.cu doesn't take. A block goes through its part of the rows, and adds up what the part gives to
// the weight's gradient and the bias's: sum_parts.cu adds the parts.
#include "moments.cuh"

namespace kk_cuda {
namespace {

// Of a row, with g = d_out * weight: what every element of g loses.
template <class R>
struct Along {
  R level, unit;  // the mean of g, and of g * unit
};

template <bool kLayer, class R, class Of>
__device__ Along<R> ComputeAlong(const NormBackwardParams& p, Of of) {
  Along<R> along{};
  if (kLayer)
    along.level = RowSum<R>(p.norm.width, [&](int i) { return of(i).x; }) * static_cast<R>(p.norm.per_element);
  along.unit = RowSum<R>(p.norm.width, [&](int i) { return of(i).x * of(i).y; }) * static_cast<R>(p.norm.per_element);
  return along;
}

template <class R>
struct Pair {
  R x, y;
};

// d_sum: the gradient of the sum that was normalised, null where x was. d_residual is d_x once more. Each thread has its own columns of
// `sums`: those of the weight, then those of the bias.
template <bool kLayer, class T>
__device__ void NormBackward(const T* d_out, const T* d_sum, const T* x, const void* weight, T* d_x, T* d_residual,
                             Compute<T>* partial, const NormBackwardParams& p) {
  using S = Compute<T>;
  extern __shared__ __align__(16) unsigned char memory[];
  constexpr int kSums = kLayer ? 2 : 1;
  const int width = p.norm.width;
  partial += static_cast<long long>(blockIdx.x) * kSums * width;
  S* const sums = p.shared ? reinterpret_cast<S*>(memory) : partial;
  for (int i = threadIdx.x; i < width; i += kRowThreads) {
    sums[i] = 0;
    if (kLayer) sums[width + i] = 0;
  }
  const long long begin = p.norm.rows * blockIdx.x / gridDim.x, end = p.norm.rows * (blockIdx.x + 1) / gridDim.x;
  for (long long row = begin; row < end; ++row) {
    const T *const from = x + RowOffset(p.norm.x, row), *const d = d_out + row * width;
    const Moments<S> moments = ComputeMoments<kLayer, S>(width, p.norm.per_element, p.norm.eps,
                                                         [&](int i) { return Number(from[i * p.norm.x.step]); });
    const auto unit = [&](int i) { return moments.Unit(Number(from[i * p.norm.x.step])); };
    const auto weighted = [&](int i, auto as) {
      using R = decltype(as);
      return Pair<R>{static_cast<R>(Number(d[i])) * NumberAt<S>(p.norm.weight, weight, i), unit(i)};
    };
    const Along<S> narrow = ComputeAlong<kLayer, S>(p, [&](int i) { return weighted(i, S{}); });
    const bool wide = moments.wide || !IsModerate(narrow.level) || !IsModerate(narrow.unit);
    Along<double> along{};
    if (wide) along = ComputeAlong<kLayer, double>(p, [&](int i) { return weighted(i, 0.0); });
    const S slope = static_cast<S>(moments.Slope());
#pragma unroll 1
    for (int i = threadIdx.x; i < width; i += kRowThreads) {
      const S at = unit(i);
      S result;
      if (wide) {
        result = static_cast<S>((weighted(i, 0.0).x - along.level - at * along.unit) * moments.Slope());
      } else {
        result = (weighted(i, S{}).x - narrow.level - at * narrow.unit) * slope;
      }
      if (d_sum) result += Number(d_sum[row * width + i]);
      Put(result, d_x + row * width + i);
      if (d_residual) Put(result, d_residual + row * width + i);
      sums[i] += Number(d[i]) * at;
      if (kLayer) sums[width + i] += Number(d[i]);
    }
  }
  if (!p.shared) return;
  for (int i = threadIdx.x; i < width; i += kRowThreads) {
    partial[i] = sums[i];
    if (kLayer) partial[width + i] = sums[width + i];
  }
}

}  // namespace
}  // namespace kk_cuda

#define KK_NORM_BACKWARD(norm, is_layer, name, T, S)                                                                \
  extern "C" __global__ void __launch_bounds__(128)                                                                 \
      norm##_backward_##name(const T* d_out, const T* d_sum, const T* x, const void* weight, T* d_x, T* d_residual, \
                             S* partial, const __grid_constant__ kk_cuda::NormBackwardParams p) {                   \
    kk_cuda::NormBackward<is_layer>(d_out, d_sum, x, weight, d_x, d_residual, partial, p);                          \
  }
#define KK_NORMS_BACKWARD(name, T, S)            \
  KK_NORM_BACKWARD(layer_norm, true, name, T, S) \
  KK_NORM_BACKWARD(rms_norm, false, name, T, S)
KK_NORMS_BACKWARD(f32, float, float)
KK_NORMS_BACKWARD(f64, double, double)
KK_NORMS_BACKWARD(f16, __half, float)
KK_NORMS_BACKWARD(bf16, __nv_bfloat16, float)
