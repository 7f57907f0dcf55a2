// Activations, also gated, and their gradients: a thread per result.
#include "activations.cuh"

namespace kk_cuda {
namespace {

template <class T>
__device__ void Gates(const T* x, const T* up, T* out, const GateParams& p) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= p.count) return;
  const long long row = at / p.width, i = at % p.width;
  Compute<T> result = Activation(p.kind, Number(x[RowOffset(p.x, row) + i * p.x.step]));
  if (p.kind >= kSwiglu) result *= Number(up[RowOffset(p.up, row) + i * p.up.step]);
  Put(result, out + at);
}

// d_up: null where there is no `up`.
template <class T>
__device__ void GatesBackward(const T* d_out, const T* x, const T* up, T* d_x, T* d_up, const GateParams& p) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= p.count) return;
  const long long row = at / p.width, i = at % p.width;
  const Compute<T> a = Number(x[RowOffset(p.x, row) + i * p.x.step]), d = Number(d_out[at]);
  Compute<T> of_gate = d;
  if (p.kind >= kSwiglu) {
    of_gate *= Number(up[RowOffset(p.up, row) + i * p.up.step]);
    Put(d * Activation(p.kind, a), d_up + at);
  }
  Put(of_gate * ActivationSlope(p.kind, a), d_x + at);
}

}  // namespace
}  // namespace kk_cuda

#define KK_GATES(name, T)                                                                                      \
  extern "C" __global__ void __launch_bounds__(256)                                                            \
      gates_##name(const T* x, const T* up, T* out, kk_cuda::GateParams p) {                                   \
    kk_cuda::Gates(x, up, out, p);                                                                             \
  }                                                                                                            \
  extern "C" __global__ void __launch_bounds__(256)                                                            \
      gates_backward_##name(const T* d_out, const T* x, const T* up, T* d_x, T* d_up, kk_cuda::GateParams p) { \
    kk_cuda::GatesBackward(d_out, x, up, d_x, d_up, p);                                                        \
  }
KK_GATES(f32, float)
KK_GATES(f64, double)
KK_GATES(f16, __half)
KK_GATES(bf16, __nv_bfloat16)
