// Math functions of f32 in the generator of kind c: their error on every 4099th f32 of all, or on every one with
// KERNPACK_MATH_STEP=1 (`make exhaustive-math`), and what they are exactly.
#include <gtest/gtest.h>

#include <cstdlib>

#include "ir/arguments.h"
#include "ir/compiled.h"
#include "ir/math_f32.h"

namespace ir_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// With and without operations that multiply and add: contraction is allowed, and must not hurt.
const Compiled& Math(bool contracts) {
  static const auto compile = [](const char* name, const char* target) {
    std::string text = std::string("module \"") + name + "\"\n";
    for (const FunctionF32& f : kFunctionsF32) {
      text += std::string("func ") + f.name +
              "_of(x: f32[N]) -> (o: f32[N]) { vectorized(16) i in 0..N { o[i] = " + f.name + "(x[i]) } }\n";
    }
    text +=
        "func pow_of(x: f32[N], y: f32[N]) -> (o: f32[N]) { vectorized(16) i in 0..N { o[i] = pow(x[i], y[i]) } }\n";
    return Compiled(Parse(text), target);
  };
  static const Compiled plain = compile("math", "c -mcpu=x86-64-v2");
  if (!contracts || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return plain;
  static const Compiled contracted = compile("math_v3", "c -mcpu=x86-64-v3");
  return contracted;
}

uint64_t Step() {
  const char* given = std::getenv("KERNPACK_MATH_STEP");
  const uint64_t step = given ? std::strtoull(given, nullptr, 10) : 0;
  return step ? step : 4099;
}

std::vector<float> Apply(const std::string& function, const std::vector<Array*>& inputs, bool contracts = false) {
  Array out(kF32, inputs[0]->shape);
  std::vector<KpAny> args;
  for (Array* a : inputs) args.push_back(a->Value());
  args.push_back(out.Value());
  EXPECT_EQ(Math(contracts).Call(function + "_of", args), "");
  return std::vector<float>(out.as<float>(), out.as<float>() + out.shape[0]);
}

ApplyF32 Way(const std::string& function, bool contracts) {
  return [entry = function + "_of", &compiled = Math(contracts)](const float* x, float* y, size_t n) {
    auto extent = static_cast<int64_t>(n);
    KpDLTensor in{const_cast<float*>(x), {KP_DEVICE_CPU, 0}, 1, kF32, &extent, nullptr, 0}, out = in;
    out.data = y;
    EXPECT_EQ(compiled.Call(entry, {Value(&in), Value(&out)}), "");
  };
}

class IrMath : public testing::TestWithParam<FunctionF32> {};

TEST_P(IrMath, StaysWithinItsError) {
  const FunctionF32& f = GetParam();
  const auto [plain, contracted] = LargestErrors<2>(f, {Way(f.name, false), Way(f.name, true)}, Step());
  std::printf("%s: at most %.3f ulp, at %a; contracted %.3f, at %a\n", f.name, plain.ulp, static_cast<double>(plain.at),
              contracted.ulp, static_cast<double>(contracted.at));
  EXPECT_LE(plain.ulp, f.limit) << f.name << " of " << plain.at;
  EXPECT_LE(contracted.ulp, f.limit) << f.name << " of " << contracted.at;
}
INSTANTIATE_TEST_SUITE_P(Functions, IrMath, testing::ValuesIn(kFunctionsF32),
                         [](const auto& info) { return info.param.name; });

void ExpectBits(const char* function, float x, float want, bool contracts) {
  Array in = Array::Of<float>(kF32, {1}, {x});
  const float got = Apply(function, {&in}, contracts)[0];
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << function << " of " << x << " is " << got;
  } else {
    EXPECT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(want)) << function << " of " << x << " is " << got;
  }
}

TEST(IrMathExact, IsExactAtZerosInfinitiesAndNan) {
  const struct {
    const char* name;
    float zero, minus_zero, inf, minus_inf;
  } rows[] = {{"exp", 1, 1, kInf, 0},   {"log", -kInf, -kInf, kInf, kNan}, {"tanh", 0, -0.0f, 1, -1},
              {"erf", 0, -0.0f, 1, -1}, {"sigmoid", 0.5, 0.5, 1, 0},       {"sin", 0, -0.0f, kNan, kNan},
              {"cos", 1, 1, kNan, kNan}};
  for (const bool contracts : {false, true}) {
    for (const auto& row : rows) {
      ExpectBits(row.name, 0, row.zero, contracts);
      ExpectBits(row.name, -0.0f, row.minus_zero, contracts);
      ExpectBits(row.name, kInf, row.inf, contracts);
      ExpectBits(row.name, -kInf, row.minus_inf, contracts);
      ExpectBits(row.name, kNan, kNan, contracts);
    }
    ExpectBits("log", 1, 0, contracts);
    ExpectBits("log", -1, kNan, contracts);
  }
}

TEST(IrMathExact, NothingIsBeyondItsLimit) {
  constexpr int64_t kCount = 1 << 16;
  Array x(kF32, {kCount});
  for (int64_t i = 0; i < kCount; ++i) x.as<float>()[i] = static_cast<float>(i - kCount / 2) * 0x1p-11f;
  for (const char* function : {"tanh", "erf", "sigmoid"}) {
    for (const bool contracts : {false, true}) {
      for (const float y : Apply(function, {&x}, contracts)) ASSERT_LE(std::fabs(y), 1) << function;
    }
  }
}

TEST(IrMathExact, PowOfSpecialValuesIsTheCLibrarys) {
  const std::vector<float> special = {0,    -0.0f, 1,    -1,    2,    -2,     0.5f,        -0.5f, 3,     -3,
                                      2.5f, -2.5f, kInf, -kInf, kNan, 1e-40f, 16777216.0f, 1e30f, -1e30f};
  std::vector<float> xs, ys;
  for (const float x : special) {
    for (const float y : special) {
      xs.push_back(x);
      ys.push_back(y);
    }
  }
  Array x = Array::Of<float>(kF32, {static_cast<int64_t>(xs.size())}, xs),
        y = Array::Of<float>(kF32, {static_cast<int64_t>(ys.size())}, ys);
  const std::vector<float> got = Apply("pow", {&x, &y});
  for (size_t i = 0; i < xs.size(); ++i) {
    const double want = std::pow(static_cast<double>(xs[i]), static_cast<double>(ys[i]));
    EXPECT_LE(UlpsApart(got[i], want), 1) << xs[i] << " ^ " << ys[i] << " is " << got[i] << ", expected " << want;
    EXPECT_EQ(std::signbit(got[i]), std::signbit(want) && !std::isnan(want))
        << xs[i] << " ^ " << ys[i] << " is " << got[i];
  }
}

TEST(IrMathExact, PowStaysWithinOneUlp) {
  std::mt19937_64 random(7);
  constexpr int64_t kChunk = 1 << 16;
  Array x(kF32, {kChunk}), y(kF32, {kChunk});
  double worst = 0;
  for (uint64_t round = 1 + 4099 * 4 / Step(); round > 0; --round) {
    for (int64_t i = 0; i < kChunk; ++i) {
      x.as<float>()[i] = std::bit_cast<float>(static_cast<uint32_t>(random()) & 0x7fffffff);
      // An exponent for which the result is in range.
      const double range = 120 / std::fmax(std::fabs(std::log2(std::fabs(x.as<float>()[i]))), 1e-30);
      y.as<float>()[i] =
          static_cast<float>(std::fmin(range, 1e30) * (static_cast<double>(random() >> 11) / 0x1p52 - 1));
    }
    const std::vector<float> got = Apply("pow", {&x, &y});
    for (int64_t i = 0; i < kChunk; ++i) {
      const double want = std::pow(static_cast<double>(x.as<float>()[i]), static_cast<double>(y.as<float>()[i]));
      worst = std::fmax(worst, UlpsApart(got[static_cast<size_t>(i)], want));
    }
  }
  std::printf("pow: at most %.3f ulp\n", worst);
  EXPECT_LE(worst, 1);
}

}  // namespace
}  // namespace ir_test
