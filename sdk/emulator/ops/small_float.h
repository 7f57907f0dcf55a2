// Floats of 16 bits, read to and rounded from double: once, to nearest even, or toward zero.
#ifndef KERNPACK_SDK_EMULATOR_OPS_SMALL_FLOAT_H_
#define KERNPACK_SDK_EMULATOR_OPS_SMALL_FLOAT_H_

#include <cstdint>

namespace kernpack::emulator::KP_ISA {

// The nearest float, its last bit set where that is not exact: rounding it further gives what rounding the double would.
inline uint32_t RoundToOdd(double value) {
  const auto nearest = static_cast<float>(value);
  uint32_t bits = __builtin_bit_cast(uint32_t, nearest);
  const auto back = static_cast<double>(nearest);
  const bool inexact = back != value && value == value;
  const bool above = __builtin_fabs(back) > __builtin_fabs(value);
  if (inexact && (bits & 1) == 0) bits += above ? ~0U : 1U;
  return bits;
}

// A float of 16 bits with this many bits of exponent.
template <int kExponent>
struct Small {
  static constexpr int kMantissa = 15 - kExponent;
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr uint16_t kInfinity = ((1 << kExponent) - 1) << kMantissa;
  static constexpr uint16_t kNan = 0x7fff;
  static constexpr double kLeast = kExponent == 5 ? 0x1p-14 : 0x1p-126;  // of the normal numbers

  static double Read(uint16_t bits) {
    if constexpr (kExponent == 8) return static_cast<double>(__builtin_bit_cast(float, uint32_t{bits} << 16));
    const uint32_t magnitude = bits & 0x7fff;
    // Scaled by a power of two, which also makes subnormal ones normal.
    const float scaled = __builtin_bit_cast(float, magnitude << 13) * 0x1p112F;
    const uint32_t special = 0x7f800000U | (magnitude << 13);
    uint32_t word = magnitude >= kInfinity ? special : __builtin_bit_cast(uint32_t, scaled);
    word |= (uint32_t{bits} & 0x8000U) << 16;
    return static_cast<double>(__builtin_bit_cast(float, word));
  }

  // Of a float whose last bit may stand for more (RoundToOdd).
  static uint16_t FromFloat(uint32_t word, bool toward_zero) {
    const uint32_t magnitude = word & 0x7fffffff;
    const auto sign = static_cast<uint16_t>(word >> 16 & 0x8000);
    if (magnitude > 0x7f800000) return kNan;
    if (magnitude == 0x7f800000) return sign | kInfinity;
    int exponent = static_cast<int>(magnitude >> 23) - 127 + kBias;
    uint64_t mantissa = (magnitude & 0x7fffff) | (magnitude >= 0x800000 ? 0x800000 : 0);
    if (magnitude < 0x800000) ++exponent;
    int drop = 23 - kMantissa;
    if (exponent < 1) drop += 1 - exponent, exponent = 1;
    if (drop > 40) drop = 40;
    uint64_t kept = mantissa >> drop;
    const uint64_t rest = mantissa & ((uint64_t{1} << drop) - 1), half = uint64_t{1} << (drop - 1);
    if (!toward_zero && (rest > half || (rest == half && (kept & 1) != 0))) ++kept;
    const uint64_t out = (static_cast<uint64_t>(exponent - 1) << kMantissa) + kept;
    if (out >= kInfinity) return sign | (toward_zero ? kInfinity - 1 : kInfinity);
    return sign | static_cast<uint16_t>(out);
  }
  static uint16_t Write(double value, bool toward_zero = false) { return FromFloat(RoundToOdd(value), toward_zero); }
};

using Half = Small<5>;
using Brain = Small<8>;

// A float of 8 bits with this many bits of exponent, whose greatest finite magnitude is kMost ("FP8 Formats for Deep Learning",
// Micikevicius et al., 2022). What is above it with 5 bits of exponent is as in
// IEEE 754; with 4 it is NaN.
template <int kExponent, uint8_t kMost>
struct Eight {
  static constexpr int kMantissa = 7 - kExponent;
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr uint8_t kNan = 0x7f;

  static double Read(uint8_t bits) {
    const uint32_t magnitude = bits & 0x7f, mantissa = magnitude & ((1U << kMantissa) - 1);
    const auto exponent = static_cast<int>(magnitude >> kMantissa);
    double value = 0;
    if (magnitude > kMost) {
      value = kExponent == 5 && mantissa == 0 ? __builtin_inf() : __builtin_nan("");
    } else {
      const double whole = static_cast<double>(mantissa) + (exponent == 0 ? 0 : 1 << kMantissa);
      value = __builtin_ldexp(whole, (exponent == 0 ? 1 : exponent) - kBias - kMantissa);
    }
    return (bits & 0x80) != 0 ? -value : value;
  }

  // To nearest even; beyond kMost, also of an infinity, kMost with its sign.
  static uint8_t Write(double value) {
    if (value != value) return kNan;
    const auto sign = static_cast<uint8_t>(__builtin_signbit(value) ? 0x80 : 0);
    const double magnitude = __builtin_fabs(value);
    if (magnitude >= Read(kMost)) return sign | kMost;
    int exponent = static_cast<int>(__builtin_bit_cast(uint64_t, magnitude) >> 52) - 1023;
    if (exponent < 1 - kBias) exponent = 1 - kBias;
    const double whole = __builtin_nearbyint(__builtin_ldexp(magnitude, kMantissa - exponent));
    return sign | static_cast<uint8_t>(((exponent - 1 + kBias) << kMantissa) + static_cast<int>(whole));
  }
};

using E4m3 = Eight<4, 0x7e>;
using E5m2 = Eight<5, 0x7b>;

// a * b + c with one rounding in the end: the product is exact in double, and the sum keeps what it loses in its last bit.
inline double FusedForSmall(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  const double part = sum - product;
  const double lost = (product - (sum - part)) + (c - part);
  uint64_t bits = __builtin_bit_cast(uint64_t, sum);
  if (lost != 0 && lost == lost && (bits & 1) == 0 && __builtin_fabs(sum) < __builtin_inf()) {
    bits += (lost > 0) == (sum > 0) ? 1U : ~uint64_t{0};
  }
  return __builtin_bit_cast(double, bits);
}

}  // namespace kernpack::emulator::KP_ISA

#endif  // KERNPACK_SDK_EMULATOR_OPS_SMALL_FLOAT_H_
