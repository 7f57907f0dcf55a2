// Floats of 4 and 6 bits, and scales of blocks of them ("OCP Microscaling Formats (MX) Specification" 1.0, 5.3 and 5.4), as doubles.
#ifndef KERNPACK_SDK_EMULATOR_OPS_FEW_BITS_H_
#define KERNPACK_SDK_EMULATOR_OPS_FEW_BITS_H_

#include <cstdint>

#include "ops/small_float.h"

namespace kernpack::emulator::KP_ISA {

// Always finite.
template <int kExponent, int kMantissa>
struct Few {
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;

  // Of the lower bits.
  static double Read(uint32_t bits) {
    const uint32_t mantissa = bits & ((1U << kMantissa) - 1);
    const auto exponent = static_cast<int>(bits >> kMantissa & ((1U << kExponent) - 1));
    const double whole = static_cast<double>(mantissa) + (exponent == 0 ? 0 : 1 << kMantissa);
    const double value = __builtin_ldexp(whole, (exponent == 0 ? 1 : exponent) - kBias - kMantissa);
    return (bits >> (kExponent + kMantissa) & 1) != 0 ? -value : value;
  }
};

using E3m2 = Few<3, 2>;
using E2m3 = Few<2, 3>;
using E2m1 = Few<2, 1>;

// Scales have no sign.
inline double ReadUe8m0(uint8_t bits) {
  return bits == 0xff ? __builtin_nan("") : __builtin_ldexp(1, static_cast<int>(bits) - 127);
}
inline double ReadUe4m3(uint8_t bits) { return E4m3::Read(bits & 0x7f); }

}  // namespace kernpack::emulator::KP_ISA

#endif  // KERNPACK_SDK_EMULATOR_OPS_FEW_BITS_H_
