// Activations, also gated, and their gradients: a thread per 16 bytes of results where rows can be read so, else per result.
#include "activations.cuh"
#include "common/cuda/chunks.cuh"

namespace kk_cuda {
namespace {

template <GateKind kKind, class T, class S>
__device__ inline S Gate(S x, S up) {
  return kKind >= kSwiglu ? Activation<T>(kKind, x) * up : Activation<T>(kKind, x);
}

// f<kind>()
template <class F>
__device__ inline void WithKind(GateKind kind, const F& f) {
  switch (kind) {
#define KK_CASE(op, Name, text) \
  case k##Name:                 \
    return f.template operator()<k##Name>();
    KK_ROW_ACTIVATIONS(KK_CASE)
#undef KK_CASE
    case kGelu:
      return f.template operator()<kGelu>();
    case kGeluTanh:
      return f.template operator()<kGeluTanh>();
    case kSwiglu:
      return f.template operator()<kSwiglu>();
    case kGeglu:
      return f.template operator()<kGeglu>();
    case kGegluTanh:
      return f.template operator()<kGegluTanh>();
  }
}

// Where a thread's results begin in x, in up and in the results, and whether it has any.
template <int kCount>
struct Place {
  long long x, up, out;
  bool there;

  __device__ explicit Place(const GateParams& p) {
    out = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * kCount;
    there = out < p.count;
    if (p.flat) {
      x = up = out;
      return;
    }
    const long long row = p.wide ? out / p.width : static_cast<unsigned>(out) / static_cast<unsigned>(p.width);
    const long long i = out - row * p.width;
    x = RowOffset(p.x, row) + i * p.x.step, up = RowOffset(p.up, row) + i * p.up.step;
  }
};

template <class T, int kCount>
struct Forward {
  const T *x, *up;
  T* out;

  template <GateKind kKind>
  __device__ void operator()() const {
    using S = Compute<T>;
    S a[kCount], b[kCount] = {};
    Convert(a, x);
    if (kKind >= kSwiglu) Convert(b, up);
    Numbers<T, kCount> result;
#pragma unroll
    for (int i = 0; i < kCount; ++i) Put(Gate<kKind, T>(a[i], b[i]), &result.at[i]);
    *reinterpret_cast<Numbers<T, kCount>*>(out) = result;
  }
};

template <class T, int kCount>
struct Backward {
  const T *d_out, *x, *up;
  T *d_x, *d_up;

  template <GateKind kKind>
  __device__ void operator()() const {
    using S = Compute<T>;
    S d[kCount], a[kCount], b[kCount] = {};
    Convert(d, d_out);
    Convert(a, x);
    if (kKind >= kSwiglu) Convert(b, up);
    Numbers<T, kCount> of_x, of_up;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (kKind >= kSwiglu) Put(d[i] * Activation<T>(kKind, a[i]), &of_up.at[i]);
      Put((kKind >= kSwiglu ? d[i] * b[i] : d[i]) * ActivationSlope<T>(kKind, a[i]), &of_x.at[i]);
    }
    *reinterpret_cast<Numbers<T, kCount>*>(d_x) = of_x;
    if (kKind >= kSwiglu) *reinterpret_cast<Numbers<T, kCount>*>(d_up) = of_up;
  }
};

template <int kCount, class T>
__device__ void Gates(const T* x, const T* up, T* out, const GateParams& p) {
  const Place<kCount> at(p);
  if (at.there) WithKind(p.kind, Forward<T, kCount>{x + at.x, up + at.up, out + at.out});
}

// d_up: null where there is no `up`.
template <int kCount, class T>
__device__ void GatesBackward(const T* d_out, const T* x, const T* up, T* d_x, T* d_up, const GateParams& p) {
  const Place<kCount> at(p);
  if (at.there)
    WithKind(p.kind, Backward<T, kCount>{d_out + at.out, x + at.x, up + at.up, d_x + at.out, d_up + at.out});
}

}  // namespace
}  // namespace kk_cuda

#define KK_GATES(name, T, count)                                                                                 \
  extern "C" __global__ void __launch_bounds__(256)                                                              \
      gates_##name(const T* x, const T* up, T* out, const __grid_constant__ kk_cuda::GateParams p) {             \
    kk_cuda::Gates<count>(x, up, out, p);                                                                        \
  }                                                                                                              \
  extern "C" __global__ void __launch_bounds__(256) gates_backward_##name(                                       \
      const T* d_out, const T* x, const T* up, T* d_x, T* d_up, const __grid_constant__ kk_cuda::GateParams p) { \
    kk_cuda::GatesBackward<count>(d_out, x, up, d_x, d_up, p);                                                   \
  }
#define KK_GATES_OF(name, T) KK_GATES(name, T, 1) KK_GATES(chunks_##name, T, kk_cuda::kChunk<T>)
KK_GATES_OF(f32, float)
KK_GATES_OF(f64, double)
KK_GATES_OF(f16, __half)
KK_GATES_OF(bf16, __nv_bfloat16)
