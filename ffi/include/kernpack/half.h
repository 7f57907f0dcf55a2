// Storage types of 16-bit floats: bits with conversions to and from float. Kernels convert to float for arithmetic.
#ifndef KERNPACK_HALF_H_
#define KERNPACK_HALF_H_

#include <kernpack/dtype.h>

KP_NAMESPACE_BEGIN
namespace detail {

inline uint32_t float_bits(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float float_from(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

// The bits of the float that a finite magnitude with `mantissa` bits of mantissa and this exponent bias is. A subnormal one is built
// by a subtraction of normal floats: threads that take subnormal floats for zero (XLA's, and after torch.set_flush_denormal(True))
// get its value, too.
inline uint32_t widen_magnitude(uint32_t magnitude, int mantissa, uint32_t bias) {
  const uint32_t unit = (128 - bias + 23 - static_cast<uint32_t>(mantissa)) << 23;
  const uint32_t subnormal = float_bits(float_from(unit | magnitude) - float_from(unit));
  const uint32_t normal = (magnitude << (23 - mantissa)) + ((127 - bias) << 23);
  return magnitude < 1u << mantissa ? subnormal : normal;
}

}  // namespace detail

// IEEE binary16. Rounds to nearest, ties to even.
struct half {
  uint16_t bits;

  half() = default;
  explicit half(float value) {
    const uint32_t b = detail::float_bits(value), magnitude = b & 0x7fffffff;
    uint32_t out;
    if (magnitude > 0x7f800000) {
      out = 0x7e00;
    } else if (magnitude >= 0x47800000) {
      out = 0x7c00;
    } else if (magnitude < 0x38800000) {  // subnormal: the adder rounds to a multiple of 2^-24
      out = detail::float_bits(detail::float_from(magnitude) + 0.5f) - 0x3f000000;
    } else {
      out = (magnitude + 0xc8000fff + ((magnitude >> 13) & 1)) >> 13;
    }
    bits = static_cast<uint16_t>(out | (b >> 16 & 0x8000));
  }
  operator float() const {
    const uint32_t magnitude = bits & 0x7fff;
    const uint32_t value =
        magnitude >= 0x7c00 ? magnitude << 13 | 0x7f800000 : detail::widen_magnitude(magnitude, 10, 15);
    return detail::float_from(value | static_cast<uint32_t>(bits & 0x8000) << 16);
  }
};

// The upper half of a float. Rounds to nearest, ties to even.
struct bfloat16 {
  uint16_t bits;

  bfloat16() = default;
  explicit bfloat16(float value) {
    const uint32_t b = detail::float_bits(value);
    bits = static_cast<uint16_t>(value == value ? (b + 0x7fff + ((b >> 16) & 1)) >> 16 : 0x7fc0);
  }
  operator float() const { return detail::float_from(static_cast<uint32_t>(bits) << 16); }
};

template <>
struct DTypeOf<half> {
  static constexpr DType value = f16;
};
template <>
struct DTypeOf<bfloat16> {
  static constexpr DType value = bf16;
};

KP_NAMESPACE_END

#endif  // KERNPACK_HALF_H_
