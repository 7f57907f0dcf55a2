// kp::half and kp::bfloat16 from and to the toolkit's __half and __nv_bfloat16, whose bits they have. For nvcc and NVRTC;
// kernpack/cuda.h includes it.
#ifndef KERNPACK_CUDA_TYPES_H_
#define KERNPACK_CUDA_TYPES_H_

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <kernpack/half.h>

KP_NAMESPACE_BEGIN
namespace detail {

template <>
inline constexpr bool has_bits_of<__half, half> = true;
template <>
inline constexpr bool has_bits_of<__nv_bfloat16, bfloat16> = true;

}  // namespace detail

#ifndef __CUDACC_RTC__
KP_DTYPE_OF_(__half, f16)
KP_DTYPE_OF_(__nv_bfloat16, bf16)
#endif

KP_NAMESPACE_END

#endif  // KERNPACK_CUDA_TYPES_H_
