// rope, also backwards and in place: a block of threads per row of a head. A thread reads a pair before it writes it.
#include "numbers.cuh"

namespace kk_cuda {
namespace {

template <class T>
__device__ void Rope(const T* x, const float* cos, const float* sin, T* out, const RopeParams& p) {
  using S = Compute<T>;
  const long long row = blockIdx.x;
  const T* const from = x + RowOffset(p.x, row);
  T* const to = out + RowOffset(p.out, row);
  const long long angle = RowOffset(p.angles, row / p.heads);
  for (int i = threadIdx.x; i < p.pairs; i += blockDim.x) {
    const int first = p.interleaved ? 2 * i : i, second = p.interleaved ? 2 * i + 1 : p.pairs + i;
    const S c = cos[angle + i], s = p.backward ? -sin[angle + i] : sin[angle + i];
    const S a = Number(from[first * p.x.step]), b = Number(from[second * p.x.step]);
    Put(a * c - b * s, to + first * p.out.step);
    Put(b * c + a * s, to + second * p.out.step);
  }
  for (int i = 2 * p.pairs + threadIdx.x; i < p.width; i += blockDim.x) to[i * p.out.step] = from[i * p.x.step];
}

}  // namespace
}  // namespace kk_cuda

#define KK_ROPE(name, T)                                                                           \
  extern "C" __global__ void __launch_bounds__(64)                                                 \
      rope_##name(const T* x, const float* cos, const float* sin, T* out, kk_cuda::RopeParams p) { \
    kk_cuda::Rope(x, cos, sin, out, p);                                                            \
  }
KK_ROPE(f32, float)
KK_ROPE(f64, double)
KK_ROPE(f16, __half)
KK_ROPE(bf16, __nv_bfloat16)
