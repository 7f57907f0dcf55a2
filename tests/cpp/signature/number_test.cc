// Decimal text to double, against strtod.
#include <kernpack/signature/number.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

namespace {

uint64_t Ours(const std::string& text) {
  const auto d = kernpack::signature::ReadDecimal(text.data(), 0, static_cast<uint32_t>(text.size()));
  EXPECT_TRUE(d.fits) << text;
  return kernpack::signature::DoubleBits(d);
}

uint64_t Theirs(const std::string& text) {
  const double value = std::strtod(text.c_str(), nullptr);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

TEST(Number, EdgeCasesAgreeWithStrtod) {
  for (const char* text : {"0",
                           "0.0",
                           "0e5",
                           "1",
                           "1e-6",
                           "0.1",
                           "1e22",
                           "1e23",
                           "9007199254740993",
                           "1.7976931348623157e308",
                           "1.7976931348623159e308",
                           "2e308",
                           "2.2250738585072014e-308",
                           "2.2250738585072011e-308",
                           "4.9406564584124654e-324",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "1e-400",
                           "123456789012345678e-340",
                           "9999999999999999999",
                           "0.00000000000000000001",
                           "1e0005"}) {
    EXPECT_EQ(Ours(text), Theirs(text)) << text;
  }
}

TEST(Number, RandomOnesAgreeWithStrtod) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const std::string text =
        std::to_string(random() % 10000000000000000000u) + "e" + std::to_string(static_cast<int>(random() % 680) - 345);
    ASSERT_EQ(Ours(text), Theirs(text)) << text;
  }
}

}  // namespace
