// Math functions of f64 in the generator of kind c: their error, and what they are exactly.
#include "ir/math_f64.h"

namespace ir_test {
namespace {

constexpr double kInfF64 = std::numeric_limits<double>::infinity();
constexpr double kNanF64 = std::numeric_limits<double>::quiet_NaN();

// With operations that multiply and add or without, which must not hurt.
const Runner& CompiledF64(bool contracts) {
  static const Runner plain = CompiledColumn("c -mcpu=x86-64-v2").compile(MathF64("math_f64"));
  if (!contracts || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return plain;
  static const Runner contracted = CompiledColumn("c -mcpu=x86-64-v3").compile(MathF64("math_f64_v3"));
  return contracted;
}

TEST(IrMathF64, StaysWithinItsError) { ExpectMathF64("c", CompiledF64(false), 1 << 18); }
TEST(IrMathF64, StaysWithinItsErrorContracted) { ExpectMathF64("c, contracted", CompiledF64(true), 1 << 18); }

void ExpectBitsF64(const std::string& what, double got, double want) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << what << " is " << got;
  } else {
    EXPECT_EQ(std::bit_cast<uint64_t>(got), std::bit_cast<uint64_t>(want)) << what << " is " << got;
  }
}

TEST(IrMathF64Exact, IsExactAtZerosInfinitiesAndNan) {
  const struct {
    const char* name;
    double zero, minus_zero, inf, minus_inf;
  } rows[] = {{"exp", 1, 1, kInfF64, 0},      {"log", -kInfF64, -kInfF64, kInfF64, kNanF64},
              {"tanh", 0, -0.0, 1, -1},       {"erf", 0, -0.0, 1, -1},
              {"sigmoid", 0.5, 0.5, 1, 0},    {"sin", 0, -0.0, kNanF64, kNanF64},
              {"cos", 1, 1, kNanF64, kNanF64}};
  for (const bool contracts : {false, true}) {
    for (const auto& row : rows) {
      const std::vector<double> got =
          ApplyF64(CompiledF64(contracts), row.name, {{0, -0.0, kInfF64, -kInfF64, kNanF64}});
      const double want[] = {row.zero, row.minus_zero, row.inf, row.minus_inf, kNanF64};
      for (size_t i = 0; i < got.size(); ++i) ExpectBitsF64(row.name + std::to_string(i), got[i], want[i]);
    }
    EXPECT_EQ(ApplyF64(CompiledF64(contracts), "log", {{1}})[0], 0);
  }
}

TEST(IrMathF64Exact, NothingIsBeyondItsLimit) {
  std::vector<double> x;
  for (int i = -(1 << 16); i <= 1 << 16; ++i) x.push_back(i * 0x1p-11);
  for (const char* function : {"tanh", "erf", "sigmoid", "sin", "cos"}) {
    for (const bool contracts : {false, true}) {
      for (const double y : ApplyF64(CompiledF64(contracts), function, {x})) ASSERT_LE(std::fabs(y), 1) << function;
    }
  }
}

TEST(IrMathF64Exact, SinOfWhatIsSmallIsItself) {
  const std::vector<double> x = {5e-324, -5e-324, 1e-310, 0x1p-1022, -0x1p-500, 0x1p-30};
  for (const bool contracts : {false, true}) EXPECT_EQ(ApplyF64(CompiledF64(contracts), "sin", {x}), x);
}

TEST(IrMathF64Exact, PowOfSpecialValuesIsTheCLibrarys) {
  const std::vector<double> special = {0,
                                       -0.0,
                                       1,
                                       -1,
                                       2,
                                       -2,
                                       0.5,
                                       -0.5,
                                       3,
                                       -3,
                                       2.5,
                                       -2.5,
                                       1074,
                                       -1074,
                                       -1075,
                                       kInfF64,
                                       -kInfF64,
                                       kNanF64,
                                       5e-324,
                                       -5e-324,
                                       1e-310,
                                       1e300,
                                       -1e300,
                                       0x1p53,
                                       -0x1p53,
                                       0x1p53 + 2,
                                       1e18 + 129,
                                       0x1.fffffffffffffp-1,
                                       0x1.0000000000001p+0,
                                       9007199254740991.0};
  std::vector<std::vector<double>> xy(2);
  for (const double x : special) {
    for (const double y : special) {
      xy[0].push_back(x);
      xy[1].push_back(y);
    }
  }
  for (const bool contracts : {false, true}) {
    const std::vector<double> got = ApplyF64(CompiledF64(contracts), "pow", xy);
    for (size_t i = 0; i < got.size(); ++i) {
      const double x = xy[0][i], y = xy[1][i], want = std::pow(x, y);
      const std::string what = std::to_string(x) + " ^ " + std::to_string(y);
      EXPECT_LE(UlpsApartF64(got[i], std::pow(static_cast<long double>(x), y)), kPowLimitF64)
          << what << " is " << got[i] << ", expected " << want;
      if (!std::isnan(want)) {
        EXPECT_EQ(std::signbit(got[i]), std::signbit(want)) << what << " is " << got[i];
      }
    }
  }
}

}  // namespace
}  // namespace ir_test
