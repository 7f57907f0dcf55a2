// How numbers are rounded to the element types below 32 bits, and widened to float: on bits, the same on every processor.
#ifndef KERNPACK_SMALL_FLOAT_BITS_H_
#define KERNPACK_SMALL_FLOAT_BITS_H_

#include <kernpack/on_devices.h>

KP_NAMESPACE_BEGIN
namespace detail {

inline constexpr uint32_t kFloatInfinity = 0x7f800000;

KP_HOST_DEVICE_ constexpr uint32_t float_bits(float value) { return __builtin_bit_cast(uint32_t, value); }
KP_HOST_DEVICE_ constexpr float float_from(uint32_t bits) { return __builtin_bit_cast(float, bits); }
// The bits without the sign: above kFloatInfinity if it is a NaN, whatever -ffast-math says of comparisons.
KP_HOST_DEVICE_ constexpr uint32_t magnitude_bits(float value) { return float_bits(value) & 0x7fffffff; }

// The bits of the float that a finite magnitude with `mantissa` bits of mantissa and this exponent bias is. A subnormal one is built
// by a subtraction of normal floats: threads that take subnormal floats for zero (XLA's, and after torch.set_flush_denormal(True))
// get its value, too.
KP_HOST_DEVICE_ constexpr uint32_t widen_magnitude(uint32_t magnitude, int mantissa, uint32_t bias) {
  const uint32_t unit = (128 - bias + 23 - static_cast<uint32_t>(mantissa)) << 23;
  const uint32_t subnormal = float_bits(float_from(unit | magnitude) - float_from(unit));
  const uint32_t normal = (magnitude << (23 - mantissa)) + ((127 - bias) << 23);
  return magnitude < 1u << mantissa ? subnormal : normal;
}

// The magnitude of a finite float with `mantissa` bits of mantissa and this exponent bias, rounded to nearest, ties to even; what
// is too large gives a number above every finite pattern. Both ways are computed, so that loops are vectorised.
KP_HOST_DEVICE_ constexpr uint32_t narrow_magnitude(uint32_t magnitude, int mantissa, uint32_t bias) {
  const bool is_subnormal = magnitude < (128 - bias) << 23;
  const uint32_t unit = (128 - bias + 23 - static_cast<uint32_t>(mantissa)) << 23;
  // The adder rounds to a multiple of the smallest one.
  const uint32_t subnormal = float_bits(float_from(is_subnormal ? magnitude : 0) + float_from(unit)) - unit;
  const int drop = 23 - mantissa;
  const uint32_t rounded = magnitude + (1u << (drop - 1)) - 1 + (magnitude >> drop & 1);
  return is_subnormal ? subnormal : (rounded >> drop) - ((127 - bias) << mantissa);
}

// The upper `mantissa` bits of a NaN's payload. If they are zero, the highest one is set: the pattern would be an infinity.
KP_HOST_DEVICE_ constexpr uint32_t narrow_payload(uint32_t magnitude, int mantissa) {
  const uint32_t kept = (magnitude & 0x7fffff) >> (23 - mantissa);
  return kept ? kept : 1u << (mantissa - 1);
}

// Rounds the magnitude of any float, for types whose largest exponent is for infinity and NaNs.
KP_HOST_DEVICE_ constexpr uint32_t narrow_ieee(uint32_t magnitude, int mantissa, uint32_t bias) {
  const uint32_t infinity = (2 * bias + 1) << mantissa;
  const uint32_t number = narrow_magnitude(magnitude, mantissa, bias);
  const uint32_t bounded = number < infinity ? number : infinity;
  return magnitude > kFloatInfinity ? infinity | narrow_payload(magnitude, mantissa) : bounded;
}
KP_HOST_DEVICE_ constexpr uint32_t widen_ieee(uint32_t magnitude, int mantissa, uint32_t bias) {
  const uint32_t infinity = (2 * bias + 1) << mantissa;
  return magnitude >= infinity ? magnitude << (23 - mantissa) | kFloatInfinity
                               : widen_magnitude(magnitude, mantissa, bias);
}

// A float that rounds to a type of at most 11 bits of mantissa as `value` itself does. Rounding twice to nearest would be wrong
// beside the middle of two values, so what doesn't fit into the float sets its last bit.
template <class N>
KP_HOST_DEVICE_ constexpr float float_for_rounding(N value) {
  if constexpr (stdlib::is_floating_point_v<N>) {
    const float nearest = static_cast<float>(value);
    const N back = static_cast<N>(nearest);
    const uint32_t bits = float_bits(nearest);
    if (back == value || value != value || (bits & 1) != 0) return nearest;
    return float_from((value < 0 ? back > value : back < value) ? bits + 1 : bits - 1);
  } else if constexpr (sizeof(N) <= 2) {
    return static_cast<float>(value);
  } else {
    using U = stdlib::make_unsigned_t<N>;
    bool negative = false;
    if constexpr (stdlib::is_signed_v<N>) negative = value < 0;
    const U magnitude = negative ? static_cast<U>(U{0} - static_cast<U>(value)) : static_cast<U>(value);
    const uint32_t exponent = float_bits(static_cast<float>(magnitude)) >> 23;
    const uint32_t drop = exponent > 127 + 23 ? exponent - (127 + 23) : 0;
    const U kept = magnitude >> drop;
    const float top = static_cast<float>(kept | (kept << drop != magnitude ? U{1} : U{0}));
    const float whole = top * float_from((127 + drop) << 23);
    return negative ? -whole : whole;
  }
}

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_SMALL_FLOAT_BITS_H_
