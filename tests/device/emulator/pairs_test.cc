// Instructions of sm_100 beyond Hopper: pairs of f32, and extremes of three.
#include <cmath>
#include <limits>

#include "support.h"

namespace kernpack::emulator {
namespace {

// %rd4, %rd5 and %rd6 are pairs of a thread's, or %f1, %f2 and %f3 their first halves; %rd7 or %f4 is stored.
std::string WithPairs(const std::string& body) {
  return Kernel(
      4,
      "add.s64 %rd8, %rd0, %rd21; add.s64 %rd9, %rd1, %rd21; add.s64 %rd10, %rd2, %rd21; add.s64 %rd11, %rd3, %rd21; "
      "ld.global.b64 %rd4, [%rd9]; ld.global.b64 %rd5, [%rd10]; ld.global.b64 %rd6, [%rd11]; ld.global.f32 %f1, "
      "[%rd9]; "
      "ld.global.f32 %f2, [%rd10]; ld.global.f32 %f3, [%rd11];\n" +
          body);
}

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
std::vector<float> Values(uint32_t seed) {
  const float special[] = {0, -0.0F, 1, -1, 0x1p-140F, -0x1p-149F, 0x1.fffffep127F, kInfinity, -kInfinity, kNan};
  std::vector<float> out(64);
  for (uint32_t i = 0; i < 64; ++i) {
    seed = seed * 1664525 + 1013904223;
    out[i] =
        i % 3 == seed % 3 ? special[seed / 7 % std::size(special)] : std::ldexp(static_cast<float>(seed >> 8), -24);
  }
  return out;
}
bool Same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

using Three = float (*)(float, float, float);
struct PairCase {
  const char* name;
  const char* op;
  Three expected;
};
class Pairs : public testing::TestWithParam<PairCase> {};
TEST_P(Pairs, HaveTheResultsOfTheirHalves) {
  TestMemory memory;
  const std::vector<float> a = Values(1), b = Values(2), c = Values(3);
  const uint64_t out = memory.Room(256), pa = memory.Add(a), pb = memory.Add(b), pc = memory.Add(c);
  ASSERT_EQ(RunText(WithPairs(std::string(GetParam().op) + " st.global.b64 [%rd8], %rd7;"), memory, {out, pa, pb, pc}),
            "");
  const auto found = memory.Read<float>(out, 64);
  for (size_t i = 0; i < 64; ++i) {
    const float expected = GetParam().expected(a[i], b[i], c[i]);
    EXPECT_TRUE(Same(found[i], expected))
        << a[i] << " " << b[i] << " " << c[i] << ": " << found[i] << ", not " << expected;
  }
}
float Flush(float x) { return std::fabs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x; }
INSTANTIATE_TEST_SUITE_P(
    Forms, Pairs,
    testing::Values(PairCase{"Add", "add.rn.f32x2 %rd7, %rd4, %rd5;", [](float a, float b, float) { return a + b; }},
                    PairCase{"AddItself", "mov.b64 %rd7, %rd4; add.f32x2 %rd7, %rd7, %rd7;",
                             [](float a, float, float) { return a + a; }},
                    PairCase{"Sub", "sub.f32x2 %rd7, %rd4, %rd5;", [](float a, float b, float) { return a - b; }},
                    PairCase{"Mul", "mul.rn.f32x2 %rd7, %rd4, %rd5;", [](float a, float b, float) { return a * b; }},
                    PairCase{"MulFlushed", "mul.rn.ftz.f32x2 %rd7, %rd4, %rd5;",
                             [](float a, float b, float) { return Flush(Flush(a) * Flush(b)); }},
                    PairCase{"AddTowardZero", "add.rz.f32x2 %rd7, %rd4, %rd5;",
                             [](float a, float b, float) {
                               const double sum = double{a} + double{b}, part = sum - double{a};
                               const double lost = (double{a} - (sum - part)) + (double{b} - part);  // of the sum
                               const auto near = static_cast<float>(sum);
                               const double beyond = (double{near} - sum) - lost;  // of the exact sum
                               return beyond * double{near} > 0 && std::isfinite(sum) ? std::nextafter(near, 0.0F)
                                                                                      : near;
                             }},
                    PairCase{"Fma", "fma.rn.f32x2 %rd7, %rd4, %rd5, %rd6;",
                             [](float a, float b, float c) { return std::fma(a, b, c); }}),
    [](const auto& info) { return std::string(info.param.name); });

float Most(float a, float b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b);
}
float Least(float a, float b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b);
}
TEST(ExtremesOfThree, AreThoseOfTwoAndOne) {
  const std::vector<float> a = Values(4), b = Values(5), c = Values(6);
  const auto run = [&](const std::string& op) {
    TestMemory memory;
    const uint64_t out = memory.Room(256), pa = memory.Add(a), pb = memory.Add(b), pc = memory.Add(c);
    EXPECT_EQ(RunText(WithPairs(op + " %f4, %f1, %f2, %f3; add.s64 %rd8, %rd0, %rd20; st.global.f32 [%rd8], %f4;"),
                      memory, {out, pa, pb, pc}),
              "");
    return memory.Read<float>(out, 32);
  };
  const auto most = run("max.f32"), least = run("min.f32"), nans = run("max.NaN.f32");
  for (size_t i = 0; i < 32; ++i) {
    const float x = a[2 * i], y = b[2 * i], z = c[2 * i];
    EXPECT_TRUE(Same(most[i], Most(Most(x, y), z))) << i;
    EXPECT_TRUE(Same(least[i], Least(Least(x, y), z))) << i;
    EXPECT_EQ(std::isnan(nans[i]), std::isnan(x) || std::isnan(y) || std::isnan(z)) << i;
  }
}

}  // namespace
}  // namespace kernpack::emulator
