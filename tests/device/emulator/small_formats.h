// Floats of 4, 6 and 8 bits and their scales, by the parts that they are made of.
#ifndef KERNPACK_TESTS_DEVICE_EMULATOR_SMALL_FORMATS_H_
#define KERNPACK_TESTS_DEVICE_EMULATOR_SMALL_FORMATS_H_

#include <cmath>
#include <cstdint>
#include <random>
#include <string>

namespace kernpack::emulator {

struct Format {
  const char* name;
  int exponent, mantissa;  // bits
  uint32_t shift;  // of the bits in mma's byte
  uint32_t finite;  // magnitudes below it are
  uint32_t bits() const { return 1 + static_cast<uint32_t>(exponent + mantissa); }
};
inline const Format& GetFormat(const std::string& name) {
  static constexpr Format kFormats[] = {{"e4m3", 4, 3, 0, 0x7f},
                                        {"e5m2", 5, 2, 0, 0x7c},
                                        {"e3m2", 3, 2, 0, 0x20},
                                        {"e2m3", 2, 3, 0, 0x20},
                                        {"e2m1", 2, 1, 2, 8}};
  for (const Format& format : kFormats) {
    if (name == format.name) return format;
  }
  return kFormats[0];
}
inline double GetMagnitude(const Format& of, uint32_t bits) {
  const int bias = (1 << (of.exponent - 1)) - 1;
  const int exponent = static_cast<int>(bits >> of.mantissa);
  const double fraction = (bits & ((1U << of.mantissa) - 1)) * std::exp2(-of.mantissa);
  return exponent == 0 ? fraction * std::exp2(1 - bias) : (1 + fraction) * std::exp2(exponent - bias);
}
inline double GetScale(bool ue4m3, uint8_t bits) {
  if (ue4m3) return (bits & 0x7f) == 0x7f ? std::nan("") : GetMagnitude(GetFormat("e4m3"), bits & 0x7f);
  return bits == 0xff ? std::nan("") : std::exp2(static_cast<int>(bits) - 127);
}

// A value so coarse and small that sums of products are exact in any order, and its bits.
inline double Draw(const Format& of, std::mt19937* random, uint32_t* bits) {
  double value = 0;
  do {
    *bits = static_cast<uint32_t>((*random)()) % of.finite;
    value = GetMagnitude(of, *bits);
  } while (value > 4 || value * 4 != std::floor(value * 4));
  const bool negative = (*random)() % 2 != 0;
  if (negative) *bits |= 1U << (of.exponent + of.mantissa);
  return negative ? -value : value;
}
inline uint8_t DrawScale(bool ue4m3, std::mt19937* random) {
  return static_cast<uint8_t>(ue4m3 ? 0x30 + (*random)() % 16 : 126 + (*random)() % 3);
}

}  // namespace kernpack::emulator

#endif  // KERNPACK_TESTS_DEVICE_EMULATOR_SMALL_FORMATS_H_
