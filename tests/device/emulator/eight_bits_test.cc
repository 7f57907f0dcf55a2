// Floats of 8 bits: every one of them, and each midpoint between two.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#define KP_ISA Plain
#include "ops/small_float.h"

namespace kernpack::emulator {
namespace {

using Plain::E4m3;
using Plain::E5m2;

TEST(EightBits, HaveTheValuesOfThePaper) {  // Micikevicius et al., "FP8 Formats for Deep Learning", table 1
  EXPECT_EQ(E4m3::Read(0x7e), 448);
  EXPECT_EQ(E4m3::Read(0x08), 0x1p-6);
  EXPECT_EQ(E4m3::Read(0x07), 0.875 * 0x1p-6);
  EXPECT_EQ(E4m3::Read(0x01), 0x1p-9);
  EXPECT_TRUE(std::isnan(E4m3::Read(0x7f)));
  EXPECT_TRUE(std::isnan(E4m3::Read(0xff)));
  EXPECT_EQ(E5m2::Read(0x7b), 57344);
  EXPECT_EQ(E5m2::Read(0x04), 0x1p-14);
  EXPECT_EQ(E5m2::Read(0x03), 0.75 * 0x1p-14);
  EXPECT_EQ(E5m2::Read(0x01), 0x1p-16);
  EXPECT_EQ(E5m2::Read(0x7c), std::numeric_limits<double>::infinity());
  for (const uint8_t bits : {0x7d, 0x7e, 0x7f, 0xfd}) EXPECT_TRUE(std::isnan(E5m2::Read(bits))) << int{bits};
  EXPECT_EQ(E4m3::Read(0x38), 1);
  EXPECT_EQ(E5m2::Read(0x3c), 1);
  EXPECT_EQ(E4m3::Read(0xc4), -3);
  EXPECT_TRUE(std::signbit(E4m3::Read(0x80)) && std::signbit(E5m2::Read(0x80)));
}

template <class S>
void NearestIsWritten(uint8_t most) {
  for (const int sign : {0, 0x80}) {
    for (int bits = 0; bits <= most; ++bits) {
      const auto code = static_cast<uint8_t>(bits | sign), next = static_cast<uint8_t>(code + 1);
      const double value = S::Read(code);
      ASSERT_EQ(S::Write(value), code);
      if (bits == most) break;
      const double above = S::Read(next), middle = (value + above) / 2;
      ASSERT_LT(std::fabs(value), std::fabs(above)) << bits;
      ASSERT_EQ(S::Write(middle), bits % 2 == 0 ? code : next) << bits;
      ASSERT_EQ(S::Write(std::nextafter(middle, value)), code) << bits;
      ASSERT_EQ(S::Write(std::nextafter(middle, above)), next) << bits;
    }
    const double top = S::Read(static_cast<uint8_t>(most | sign));
    for (const double value : {top * 1.01, top * 2, top * 0x1p900, top * std::numeric_limits<double>::infinity()})
      ASSERT_EQ(S::Write(value), most | sign) << value;
    ASSERT_EQ(S::Write(std::copysign(0x1p-1000, top)), sign);
  }
  ASSERT_EQ(S::Write(std::nan("")), 0x7f);
}

TEST(EightBits, TheNearestIsWritten) {
  NearestIsWritten<E4m3>(0x7e);
  NearestIsWritten<E5m2>(0x7b);
}

}  // namespace
}  // namespace kernpack::emulator
