// Elements of the row kernels, and what they are computed in.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "layout.h"

namespace kk_cuda {

template <class T>
struct ComputeOf {
  using Type = float;
};
template <>
struct ComputeOf<double> {
  using Type = double;
};
template <class T>
using Compute = typename ComputeOf<T>::Type;

__device__ inline float Number(float x) { return x; }
__device__ inline double Number(double x) { return x; }
__device__ inline float Number(__half x) { return __half2float(x); }
__device__ inline float Number(__nv_bfloat16 x) { return __bfloat162float(x); }

__device__ inline void Put(float x, float* to) { *to = x; }
__device__ inline void Put(double x, double* to) { *to = x; }
__device__ inline void Put(float x, __half* to) { *to = __float2half_rn(x); }
__device__ inline void Put(float x, __nv_bfloat16* to) { *to = __float2bfloat16_rn(x); }

// Rows are mostly of the type that their weight is of.
template <class T>
constexpr NumberKind kKindOf = sizeof(T) == 4   ? kNumberF32
                               : sizeof(T) == 8 ? kNumberF64
                                                : kNumberBf16;
template <>
constexpr NumberKind kKindOf<__half> = kNumberF16;

// 1 / sqrt(x), of an x that f32 can hold, to all bits of an f32 and sooner than rsqrt().
__device__ inline float InverseRoot(double x) {
  const double near = rsqrtf(static_cast<float>(x));
  return static_cast<float>(near * (1.5 - 0.5 * x * near * near));
}

template <class S>
__device__ inline S NumberAt(NumberKind kind, const void* from, long long at) {
  if (kind == kNumberF32) return static_cast<const float*>(from)[at];
  if (kind == kNumberF64) return static_cast<S>(static_cast<const double*>(from)[at]);
  if (kind == kNumberF16) return __half2float(static_cast<const __half*>(from)[at]);
  return __bfloat162float(static_cast<const __nv_bfloat16*>(from)[at]);
}

// Where row `row` begins, in elements. Divisions of 64 bits are slow: the last dimension takes none, and the host joins those it can.
__device__ inline long long RowOffset(const RowLayout& layout, long long row) {
  long long offset = 0;
  for (int d = 0; d + 1 < layout.dims; ++d) {
    offset += row % layout.size[d] * layout.stride[d];
    row /= layout.size[d];
  }
  return layout.dims == 0 ? 0 : offset + row * layout.stride[layout.dims - 1];
}

}  // namespace kk_cuda
