// The error of expanded math functions of f64, in units of the last place of the result, against the C library in long
// double; and math of storage types by way of f32.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "ir/arguments.h"
#include "ir/compiled.h"

namespace ir_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kSamples = 1 << 18;

struct Function {
  const char* name;
  long double (*exact)(long double);
  double limit;  // ulp
  double range;  // where it is neither constant nor infinite
};
constexpr Function kFunctions[] = {
    {"exp", [](long double x) { return std::exp(x); }, 2, 750},
    {"log", [](long double x) { return std::log(x); }, 2, 4},
    {"tanh", [](long double x) { return std::tanh(x); }, 4, 25},
    {"sigmoid", [](long double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }, 2, 750},
};

const Compiled& Math(bool contracts) {
  static const auto compile = [](const char* name, const char* target) {
    std::string text = std::string("module \"") + name + "\"\n";
    for (const Function& f : kFunctions) {
      text += std::string("func ") + f.name +
              "_of(x: f64[N]) -> (o: f64[N]) { vectorized(4) i in 0..N { o[i] = " + f.name + "(x[i]) } }\n";
    }
    text += "func half(x: f16[N]) -> (o: f16[N]) { for i in 0..N { o[i] = f16(tanh(f32(x[i]))) } }\n";
    return Compiled(Parse(text), target);
  };
  static const Compiled plain = compile("math_f64", "c -mcpu=x86-64-v2");
  if (!contracts || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return plain;
  static const Compiled contracted = compile("math_f64_v3", "c -mcpu=x86-64-v3");
  return contracted;
}

std::vector<double> Apply(const std::string& function, const std::vector<double>& inputs, bool contracts) {
  Array x = Array::Of<double>(kF64, {static_cast<int64_t>(inputs.size())}, inputs), out(kF64, x.shape);
  EXPECT_EQ(Math(contracts).Call(function + "_of", {x.Value(), out.Value()}), "");
  return std::vector<double>(out.as<double>(), out.as<double>() + inputs.size());
}

double UlpsApart(double got, long double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : HUGE_VAL;
  const auto nearest = static_cast<double>(want);
  if (std::isinf(got) || std::isinf(nearest)) return got == nearest ? 0 : HUGE_VAL;
  const double magnitude = std::max(std::fabs(nearest), std::numeric_limits<double>::min());
  const double ulp = std::nextafter(magnitude, kInf) - magnitude;
  return static_cast<double>(std::fabs(got - want) / ulp);
}

class IrMathF64 : public testing::TestWithParam<Function> {};

TEST_P(IrMathF64, StaysWithinItsError) {
  const Function& f = GetParam();
  std::mt19937_64 random(1);
  std::vector<double> x;
  for (int64_t i = 0; i < kSamples; ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-52 - 1;
    x.push_back(i % 2 ? unit * f.range : std::bit_cast<double>(random()));  // of any exponent, too
  }
  for (const bool contracts : {false, true}) {
    const std::vector<double> got = Apply(f.name, x, contracts);
    double worst = 0, at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = UlpsApart(got[i], f.exact(x[i]));
      if (error > worst) worst = error, at = x[i];
    }
    std::printf("%s of f64: at most %.3f ulp, at %a%s\n", f.name, worst, at, contracts ? ", contracted" : "");
    EXPECT_LE(worst, f.limit) << f.name << " of " << at;
  }
}
INSTANTIATE_TEST_SUITE_P(Functions, IrMathF64, testing::ValuesIn(kFunctions),
                         [](const auto& info) { return info.param.name; });

TEST(IrMathF64Exact, AtZerosInfinitiesAndNan) {
  const struct {
    const char* name;
    double zero, minus_zero, inf, minus_inf;
  } rows[] = {
      {"exp", 1, 1, kInf, 0}, {"log", -kInf, -kInf, kInf, kNan}, {"tanh", 0, -0.0, 1, -1}, {"sigmoid", 0.5, 0.5, 1, 0}};
  for (const auto& row : rows) {
    for (const bool contracts : {false, true}) {
      const std::vector<double> got = Apply(row.name, {0, -0.0, kInf, -kInf, kNan}, contracts);
      const double want[] = {row.zero, row.minus_zero, row.inf, row.minus_inf, kNan};
      for (size_t i = 0; i < got.size(); ++i) {
        const bool same = std::isnan(want[i]) ? std::isnan(got[i])
                                              : std::bit_cast<uint64_t>(got[i]) == std::bit_cast<uint64_t>(want[i]);
        EXPECT_TRUE(same) << row.name << ", case " << i << ": " << got[i];
      }
    }
  }
  EXPECT_EQ(Apply("log", {1}, false)[0], 0);
}

TEST(IrMathF64Exact, WhatIsMissingSaysWhatToDo) {
  for (const char* missing : {"erf(x[i])", "sin(x[i])", "cos(x[i])", "pow(x[i], x[i])"}) {
    const std::string text =
        std::string("func f(x: f64[N]) -> (o: f64[N]) { for i in 0..N { o[i] = ") + missing + " } }";
    const std::string message = MessageOf([&] { Compiled(Parse(text)); });
    EXPECT_NE(message.find("cast to f32, or call the C library with `extern`"), std::string::npos) << message;
  }
}

TEST(IrMathStorage, MathOfF16IsThatOfF32) {
  std::vector<uint16_t> bits;
  for (uint32_t i = 0; i < 0x7c00; i += 7) bits.push_back(static_cast<uint16_t>(i));
  Array x = Array::Of<uint16_t>(kernpack::f16, {static_cast<int64_t>(bits.size())}, bits), out(kernpack::f16, x.shape);
  ASSERT_EQ(Math(false).Call("half", {x.Value(), out.Value()}), "");
  for (size_t i = 0; i < bits.size(); ++i) {
    const auto from = [](uint16_t b) {
      return static_cast<double>(static_cast<float>(std::bit_cast<kernpack::half>(b)));
    };
    const double want = std::tanh(from(bits[i])), got = from(out.as<uint16_t>()[i]);
    EXPECT_NEAR(got, want, std::max(want * 0x1.01p-11, 0x1.01p-25)) << from(bits[i]);
  }
}

}  // namespace
}  // namespace ir_test
