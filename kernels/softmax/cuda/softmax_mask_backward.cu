// The gradient of an additive mask of softmax: that of x, summed over the rows that a row of the mask was broadcast to. A block adds up
// its part of them: sum_parts.cu adds the parts.
#include "softmax_rows.cuh"

namespace kk_cuda {
namespace {

// Each thread has its own columns of `sums`, which hold halves.
template <class T>
__device__ void MaskBackward(const T* d_probs, const T* probs, Compute<T>* partial,
                             const SoftmaxMaskBackwardParams& p) {
  const long long of_mask = blockIdx.x % p.mask_rows, part = blockIdx.x / p.mask_rows;
  Compute<T>* const sums = partial + static_cast<long long>(blockIdx.x) * p.width;
  for (int i = threadIdx.x; i < p.width; i += kRowThreads) sums[i] = 0;
  const long long first = RowOffset(p.first, of_mask), end = p.repeats * (part + 1) / p.parts;
  for (long long repeat = p.repeats * part / p.parts; repeat < end; ++repeat) {
    const long long at = (first + RowOffset(p.repeated, repeat)) * p.width;
    const auto half = ComputeHalfGradient(d_probs + at, probs + at, p.width);
    for (int i = threadIdx.x; i < p.width; i += kRowThreads) sums[i] += half(i);
  }
}

}  // namespace
}  // namespace kk_cuda

#define KK_MASK_BACKWARD(name, T, S)                                                                                \
  extern "C" __global__ void __launch_bounds__(128) softmax_mask_backward_##name(                                   \
      const T* d_probs, const T* probs, S* partial, const __grid_constant__ kk_cuda::SoftmaxMaskBackwardParams p) { \
    kk_cuda::MaskBackward(d_probs, probs, partial, p);                                                              \
  }
KK_MASK_BACKWARD(f32, float, float)
KK_MASK_BACKWARD(f64, double, double)
KK_MASK_BACKWARD(f16, __half, float)
KK_MASK_BACKWARD(bf16, __nv_bfloat16, float)
