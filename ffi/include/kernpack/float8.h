// Storage types of 8-bit floats: bits with conversions to and from float. Kernels convert to float for arithmetic.
#ifndef KERNPACK_FLOAT8_H_
#define KERNPACK_FLOAT8_H_

#include <kernpack/half.h>

KP_NAMESPACE_BEGIN
namespace detail {

// The magnitude of a finite float with `mantissa` bits of mantissa and this exponent bias, rounded to nearest, ties to
// even; what is too large gives a number above every finite pattern.
inline uint32_t narrow_magnitude(uint32_t magnitude, int mantissa, uint32_t bias) {
  if (magnitude < (128 - bias) << 23) {  // subnormal: the adder rounds to a multiple of the smallest one
    const uint32_t unit = (128 - bias + 23 - static_cast<uint32_t>(mantissa)) << 23;
    return float_bits(float_from(magnitude) + float_from(unit)) - unit;
  }
  const int drop = 23 - mantissa;
  const uint32_t rounded = magnitude + (1u << (drop - 1)) - 1 + (magnitude >> drop & 1);
  return (rounded >> drop) - ((127 - bias) << mantissa);
}

}  // namespace detail

// 4 bits of exponent, 3 of mantissa; no infinity, one NaN: values above 448 after rounding become NaN.
struct float8_e4m3fn {
  uint8_t bits;

  float8_e4m3fn() = default;
  explicit float8_e4m3fn(float value) {
    const uint32_t b = detail::float_bits(value), magnitude = b & 0x7fffffff;
    const uint32_t out = magnitude >= 0x7f800000 ? 0x7f : detail::narrow_magnitude(magnitude, 3, 7);
    bits = static_cast<uint8_t>((out < 0x7f ? out : 0x7f) | (b >> 24 & 0x80));
  }
  operator float() const {
    const uint32_t magnitude = bits & 0x7f;
    const uint32_t value = magnitude == 0x7f ? 0x7fc00000 : detail::widen_magnitude(magnitude, 3, 7);
    return detail::float_from(value | static_cast<uint32_t>(bits & 0x80) << 24);
  }
};

// The upper half of an IEEE binary16. Values above 57344 after rounding become infinity.
struct float8_e5m2 {
  uint8_t bits;

  float8_e5m2() = default;
  explicit float8_e5m2(float value) {
    const uint32_t b = detail::float_bits(value), magnitude = b & 0x7fffffff;
    uint32_t out = magnitude > 0x7f800000 ? 0x7e : 0x7c;
    if (magnitude < 0x7f800000) {
      const uint32_t narrow = detail::narrow_magnitude(magnitude, 2, 15);
      out = narrow < 0x7c ? narrow : 0x7c;
    }
    bits = static_cast<uint8_t>(out | (b >> 24 & 0x80));
  }
  operator float() const {
    half wide;
    wide.bits = static_cast<uint16_t>(bits << 8);
    return wide;
  }
};

template <>
struct DTypeOf<float8_e4m3fn> {
  static constexpr DType value = f8_e4m3fn;
};
template <>
struct DTypeOf<float8_e5m2> {
  static constexpr DType value = f8_e5m2;
};

KP_NAMESPACE_END

#endif  // KERNPACK_FLOAT8_H_
