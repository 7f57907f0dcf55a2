// The limits of the tensor cores' sums, and how their results are rounded.
#ifndef KERNPACK_SDK_EMULATOR_OPS_ROUNDING_H_
#define KERNPACK_SDK_EMULATOR_OPS_ROUNDING_H_

#include <cmath>
#include <cstdint>

#include "ops/small_float.h"

namespace kernpack::emulator::KP_ISA {

// A zero's exponent lies below all others: it doesn't take part. Subnormal numbers aren't normalised: they have the least exponent.
constexpr int32_t kNothing = -100000;

// A summand keeps this many bits below the greatest exponent of a sum, which counts as at least kLeastOfSums.
constexpr int32_t kKept = 25, kLeastOfSums = -133, kLeastOfFloats = -126, kLeastOfHalves = -14;

// Toward zero, but an infinity beyond the greatest number. What becomes a zero has no sign.
inline double ToFloat(double value) {
  if (__builtin_fabs(value) < 0x1p-149) return 0;
  const auto nearest = static_cast<float>(value);
  if (std::isinf(nearest)) return __builtin_fabs(value) < 0x1p128 ? std::copysign(0x1.fffffep127, value) : nearest;
  const bool above = __builtin_fabs(static_cast<double>(nearest)) > __builtin_fabs(value);
  return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, nearest) - uint32_t{above});
}

// To nearest; what becomes a zero has no sign.
inline double ToHalf(double value) { return __builtin_fabs(value) <= 0x1p-25 ? 0 : Half::Read(Half::Write(value)); }

}  // namespace kernpack::emulator::KP_ISA

#endif  // KERNPACK_SDK_EMULATOR_OPS_ROUNDING_H_
