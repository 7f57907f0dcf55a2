// softmax with an optional mask, and its gradient, of rows that softmax_held.cu doesn't take: a block per row, which it reads twice. The mask's gradient: softmax_mask_backward.cu.
#include "softmax_rows.cuh"
#include "common/cuda/tail.cuh"

namespace kk_cuda {
namespace {

template <class T>
__device__ void Softmax(const T* x, const void* mask, T* out, const SoftmaxParams& p) {
  using S = Compute<T>;
  const long long row = blockIdx.x, at = row * p.width, masks = p.kind == kUnmasked ? 0 : RowOffset(p.mask, row);
  const auto get = [&](int i) {
    const S value = Number(x[at + i]);
    if (p.kind == kAdded) return value + NumberAt<S>(p.added, mask, masks + i);
    return p.kind == kKept && !static_cast<const bool*>(mask)[masks + i] ? Lowest<S>() : value;
  };
  const Tail<S> total = RowTail<S>(p.width, get);
  const S scale = total.sum == 0 ? S{0} : S{1} / total.sum;
#pragma unroll(sizeof(S) == 8 ? 1 : 4)
  for (int i = threadIdx.x; i < p.width; i += kRowThreads) {
    Put(total.sum == 0 ? S{0} : exp(get(i) - total.largest) * scale, out + at + i);
  }
}

template <class T>
__device__ void SoftmaxBackward(const T* d_probs, const T* probs, T* d_x, const SoftmaxParams& p) {
  const long long at = static_cast<long long>(blockIdx.x) * p.width;
  const auto half = ComputeHalfGradient(d_probs + at, probs + at, p.width);
  for (int i = threadIdx.x; i < p.width; i += kRowThreads) Put(2 * half(i), d_x + at + i);
}

}  // namespace
}  // namespace kk_cuda

#define KK_SOFTMAX(name, T)                                                                         \
  extern "C" __global__ void __launch_bounds__(128)                                                 \
      softmax_##name(const T* x, const void* mask, T* out, kk_cuda::SoftmaxParams p) {              \
    kk_cuda::Softmax(x, mask, out, p);                                                              \
  }                                                                                                 \
  extern "C" __global__ void __launch_bounds__(128)                                                 \
      softmax_backward_##name(const T* d_probs, const T* probs, T* d_x, kk_cuda::SoftmaxParams p) { \
    kk_cuda::SoftmaxBackward(d_probs, probs, d_x, p);                                               \
  }
KK_SOFTMAX(f32, float)
KK_SOFTMAX(f64, double)
KK_SOFTMAX(f16, __half)
KK_SOFTMAX(bf16, __nv_bfloat16)
