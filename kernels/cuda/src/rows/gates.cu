// Activations, also gated: a thread per result.
#include "numbers.cuh"

namespace kk_cuda {
namespace {

// 0 at -inf, where the product would be a NaN.
template <class S>
__device__ S Silu(S x) {
  return x < S{-750} ? S{-0.0} : x / (S{1} + exp(-x));
}

template <class S>
__device__ S Gelu(S x, bool tanh_form) {
  if (x < S{-40}) return S{-0.0};
  if (!tanh_form) return x * normcdf(x);
  const S twice = x * (S{1.5957691216057307118} + S{0.071354816272600241} * x * x);
  return x / (S{1} + exp(-twice));
}

template <class T>
__device__ void Gates(const T* x, const T* up, T* out, const GateParams& p) {
  using S = Compute<T>;
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= p.count) return;
  const long long row = at / p.width, i = at % p.width;
  const S a = Number(x[RowOffset(p.x, row) + i * p.x.step]);
  S result;
  if (p.kind == kRelu2) {
    result = a > 0 ? a * a : a != a ? a : S{0};
  } else if (p.kind == kSilu || p.kind == kSwiglu) {
    result = Silu(a);
  } else {
    result = Gelu(a, p.kind == kGeluTanh || p.kind == kGegluTanh);
  }
  if (p.kind >= kSwiglu) result *= Number(up[RowOffset(p.up, row) + i * p.up.step]);
  Put(result, out + at);
}

}  // namespace
}  // namespace kk_cuda

#define KK_GATES(name, T)                                                    \
  extern "C" __global__ void __launch_bounds__(256)                          \
      gates_##name(const T* x, const T* up, T* out, kk_cuda::GateParams p) { \
    kk_cuda::Gates(x, up, out, p);                                           \
  }
KK_GATES(f32, float)
KK_GATES(f64, double)
KK_GATES(f16, __half)
KK_GATES(bf16, __nv_bfloat16)
