// 8-bit floats as numbers, with the conversions, arithmetic and limits of half.h.
#ifndef KERNPACK_FLOAT8_H_
#define KERNPACK_FLOAT8_H_

#include <kernpack/half.h>

KP_NAMESPACE_BEGIN

// A number of 8 bits, the dtype f8_e4m3fn: 4 bits of exponent, 3 of mantissa, no infinity, one NaN. Values above 448 after rounding
// become NaN.
//
//   const kp::float8_e4m3fn x = 17.0f;
//   const float wide = x;                                 // 16
//   const kp::float8_e4m3fn largest = kp::float8_e4m3fn::from_bits(0x7e);
struct float8_e4m3fn : detail::SmallFloat<float8_e4m3fn, uint8_t> {
  using SmallFloat::SmallFloat;
  float8_e4m3fn() = default;

  KP_HOST_DEVICE_ static constexpr uint8_t narrow(float value) {
    const uint32_t magnitude = detail::magnitude_bits(value), number = detail::narrow_magnitude(magnitude, 3, 7);
    const uint32_t sign = detail::float_bits(value) >> 24 & 0x80;
    return static_cast<uint8_t>(sign | (magnitude < detail::kFloatInfinity && number < 0x7f ? number : 0x7f));
  }
  KP_HOST_DEVICE_ static constexpr float widen(uint8_t bits) {
    const uint32_t magnitude = bits & 0x7f, sign = static_cast<uint32_t>(bits & 0x80) << 24;
    return detail::float_from(sign | (magnitude == 0x7f ? 0x7fc00000 : detail::widen_magnitude(magnitude, 3, 7)));
  }
};

// A number of 8 bits, the dtype f8_e5m2: the upper half of an IEEE binary16. Values above 57344 after rounding become infinity.
//
//   const kp::float8_e5m2 x = 17.0f;
//   const float wide = x;                                 // 16
//   const kp::float8_e5m2 largest = kp::float8_e5m2::from_bits(0x7b);
struct float8_e5m2 : detail::SmallFloat<float8_e5m2, uint8_t> {
  using SmallFloat::SmallFloat;
  float8_e5m2() = default;

  KP_HOST_DEVICE_ static constexpr uint8_t narrow(float value) {
    const uint32_t sign = detail::float_bits(value) >> 24 & 0x80;
    return static_cast<uint8_t>(sign | detail::narrow_ieee(detail::magnitude_bits(value), 2, 15));
  }
  KP_HOST_DEVICE_ static constexpr float widen(uint8_t bits) { return half::widen(static_cast<uint16_t>(bits << 8)); }
};

#ifndef __CUDACC_RTC__
KP_DTYPE_OF_(float8_e4m3fn, f8_e4m3fn)
KP_DTYPE_OF_(float8_e5m2, f8_e5m2)
#endif

KP_NAMESPACE_END

KP_STD_TRAITS_(float8_e4m3fn, SmallFloatLimits<kernpack::float8_e4m3fn, 3, -5, 9, 0x7e>)
KP_STD_TRAITS_(float8_e5m2, InfiniteFloatLimits<kernpack::float8_e5m2, 2, -13, 16, 0x7b>)

#endif  // KERNPACK_FLOAT8_H_
