// 16-bit floats as numbers: conversions, arithmetic and limits on the host and on CUDA devices, as at::Half and at::BFloat16 have.
#ifndef KERNPACK_HALF_H_
#define KERNPACK_HALF_H_

#include <kernpack/float_limits.h>
#ifndef __CUDACC_RTC__
#include <kernpack/dtype.h>
#endif

KP_NAMESPACE_BEGIN
namespace detail {

#ifdef __CUDA_ARCH__
// One instruction each, of the PTX that every supported device has. A NaN's payload is lost.
__device__ inline uint16_t device_narrow_half(float value) {
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
__device__ inline float device_widen_half(uint16_t bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
#endif

}  // namespace detail

// A number of 16 bits, IEEE binary16, the dtype f16. It converts from any number, rounding once, and to float. A NaN keeps its sign
// and the upper bits of its payload, so each of the 65,536 values passes through float unchanged.
//
//   const kp::half third = 1.0f / 3;
//   const float wide = third;                             // 0.33325195
//   const kp::half one = kp::half::from_bits(0x3c00);
struct half : detail::SmallFloat<half, uint16_t> {
  using SmallFloat::SmallFloat;
  half() = default;

  KP_HOST_DEVICE_ static constexpr uint16_t narrow(float value) {
#ifdef __CUDA_ARCH__
    if (!__builtin_is_constant_evaluated()) return detail::device_narrow_half(value);
#endif
    const uint32_t sign = detail::float_bits(value) >> 16 & 0x8000;
    return static_cast<uint16_t>(sign | detail::narrow_ieee(detail::magnitude_bits(value), 10, 15));
  }
  KP_HOST_DEVICE_ static constexpr float widen(uint16_t bits) {
#ifdef __CUDA_ARCH__
    if (!__builtin_is_constant_evaluated()) return detail::device_widen_half(bits);
#endif
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    return detail::float_from(sign | detail::widen_ieee(bits & 0x7fff, 10, 15));
  }
};

// A number of 16 bits, the upper half of a float, the dtype bf16. It converts from any number, rounding once, and to float. A NaN
// keeps its sign and the upper bits of its payload.
//
//   const kp::bfloat16 third = 1.0f / 3;
//   const float wide = third;                             // 0.33398438
//   const kp::bfloat16 one = kp::bfloat16::from_bits(0x3f80);
struct bfloat16 : detail::SmallFloat<bfloat16, uint16_t> {
  using SmallFloat::SmallFloat;
  bfloat16() = default;

  KP_HOST_DEVICE_ static constexpr uint16_t narrow(float value) {
    const uint32_t bits = detail::float_bits(value), magnitude = detail::magnitude_bits(value);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const uint32_t nan = (bits >> 16 & 0x8000) | 0x7f80 | detail::narrow_payload(magnitude, 7);
    return static_cast<uint16_t>(magnitude > detail::kFloatInfinity ? nan : rounded);
  }
  KP_HOST_DEVICE_ static constexpr float widen(uint16_t bits) {
    return detail::float_from(static_cast<uint32_t>(bits) << 16);
  }
};

#ifndef __CUDACC_RTC__
KP_DTYPE_OF_(half, f16)
KP_DTYPE_OF_(bfloat16, bf16)
#endif

KP_NAMESPACE_END

KP_STD_TRAITS_(half, InfiniteFloatLimits<kernpack::half, 10, -13, 16, 0x7bff>)
KP_STD_TRAITS_(bfloat16, InfiniteFloatLimits<kernpack::bfloat16, 7, -125, 128, 0x7f7f>)

#endif  // KERNPACK_HALF_H_
