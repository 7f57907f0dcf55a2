// Elements as floats, of a type that is known when compiled or in the call.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "params.h"

namespace kk_cuda {

__device__ inline float ToFloat(float x) { return x; }
__device__ inline float ToFloat(__half x) { return __half2float(x); }
__device__ inline float ToFloat(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ inline float ToFloat(signed char x) { return x; }
__device__ inline void Store(float x, float* to) { *to = x; }
__device__ inline void Store(float x, __half* to) { *to = __float2half_rn(x); }
__device__ inline void Store(float x, __nv_bfloat16* to) { *to = __float2bfloat16_rn(x); }

__device__ inline float Load(ElementKind kind, const void* from, long long at) {
  if (kind == kF32) return static_cast<const float*>(from)[at];
  if (kind == kF16) return __half2float(static_cast<const __half*>(from)[at]);
  return __bfloat162float(static_cast<const __nv_bfloat16*>(from)[at]);
}
__device__ inline void Store(ElementKind kind, float x, void* to, long long at) {
  if (kind == kF32) return Store(x, static_cast<float*>(to) + at);
  if (kind == kF16) return Store(x, static_cast<__half*>(to) + at);
  Store(x, static_cast<__nv_bfloat16*>(to) + at);
}

}  // namespace kk_cuda
