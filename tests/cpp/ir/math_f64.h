// The error of expanded math functions of f64, in units of the last place of the result, against the C library in long
// double: for tests of any generator, which may contract.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "differential/columns.h"

namespace ir_test {

struct FunctionF64 {
  const char* name;
  long double (*exact)(long double);
  double limit;  // ulp
  double range;  // where most of the samples are
};
inline constexpr FunctionF64 kFunctionsF64[] = {
    {"exp", [](long double x) { return std::exp(x); }, 2, 750},
    {"log", [](long double x) { return std::log(x); }, 2, 4},
    {"tanh", [](long double x) { return std::tanh(x); }, 4, 25},
    {"erf", [](long double x) { return std::erf(x); }, 2, 6.5},
    {"sigmoid", [](long double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }, 2, 750},
    {"sin", [](long double x) { return std::sin(x); }, 1, 2e6},
    {"cos", [](long double x) { return std::cos(x); }, 1, 2e6},
};
constexpr double kPowLimitF64 = 1;

// exp_of(x) and so on, and pow_of(x, y).
inline IRModule MathF64(const std::string& name) {
  std::string text = "module \"" + name + "\"\n";
  for (const FunctionF64& f : kFunctionsF64) {
    text += std::string("func ") + f.name + "_of(x: f64[N]) -> (o: f64[N]) { for i in 0..N { o[i] = " + f.name +
            "(x[i]) } }\n";
  }
  return Parse(text + "func pow_of(x: f64[N], y: f64[N]) -> (o: f64[N]) { for i in 0..N { o[i] = pow(x[i], y[i]) } }");
}

inline std::vector<double> ApplyF64(const Runner& run, const std::string& function,
                                    const std::vector<std::vector<double>>& inputs) {
  std::vector<Array> arrays;
  for (const std::vector<double>& values : inputs) {
    arrays.push_back(Array::Of<double>(kF64, {static_cast<int64_t>(values.size())}, values));
  }
  arrays.emplace_back(kF64, arrays[0].shape);
  std::vector<KpAny> args;
  for (Array& a : arrays) args.push_back(a.Value());
  EXPECT_EQ(run(function + "_of", args), "");
  const double* out = arrays.back().as<double>();
  return std::vector<double>(out, out + inputs[0].size());
}

inline double UlpsApartF64(double got, long double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : HUGE_VAL;
  const auto nearest = static_cast<double>(want);
  if (std::isinf(got) || std::isinf(nearest)) return got == nearest ? 0 : HUGE_VAL;
  const double magnitude = std::max(std::fabs(nearest), std::numeric_limits<double>::min());
  const double ulp = std::nextafter(magnitude, std::numeric_limits<double>::infinity()) - magnitude;
  return static_cast<double>(std::fabs(got - want) / ulp);
}

// Where a function is hard: every second sample in its range, the others of any exponent; for sin and cos multiples of
// pi / 2 besides, and what comes nearest to one of all f64.
inline std::vector<double> SamplesF64(double range, size_t count) {
  std::mt19937_64 random(1);
  std::vector<double> x = {0x1.6ac5b262ca1ffp+849, 0x1.921fb54442d18p+0, 0x1.921fb54442d18p+1};
  for (size_t i = 0; i < count; ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-52 - 1;
    x.push_back(i % 2 ? unit * range : std::bit_cast<double>(random()));
    if (i % 16 == 0) x.push_back(std::nearbyint(unit * range) * 1.57079632679489661923);
  }
  return x;
}
// Powers that are neither 0 nor infinite, for the most part; every fourth base is near 1.
inline std::vector<std::vector<double>> PowSamplesF64(size_t count) {
  std::mt19937_64 random(7);
  std::vector<std::vector<double>> xy(2);
  for (size_t i = 0; i < count; ++i) {
    const auto unit = [&random] { return static_cast<double>(random() >> 11) * 0x1p-52 - 1; };
    const double any = std::fabs(std::bit_cast<double>(random()));
    const double x = i % 4 ? (std::isfinite(any) ? any : 3) : 1 + std::ldexp(unit(), -static_cast<int>(i / 4 % 50));
    const double range = 1080 / std::fmax(std::fabs(std::log2(x)), 1e-30);
    xy[0].push_back(x);
    xy[1].push_back(std::fmin(range, 1e30) * unit());
  }
  return xy;
}

// `exact` of the index of a sample.
template <class F>
void ExpectWithinF64(const std::string& what, const std::vector<double>& got, F exact, double limit) {
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = UlpsApartF64(got[i], exact(i));
    if (error > worst) worst = error, at = i;
  }
  std::printf("%s: at most %.3f ulp, at sample %zu\n", what.c_str(), worst, at);
  EXPECT_LE(worst, limit) << what << ", sample " << at << " gives " << got[at];
}

inline void ExpectMathF64(const std::string& column, const Runner& run, size_t count) {
  for (const FunctionF64& f : kFunctionsF64) {
    const std::vector<double> x = SamplesF64(f.range, count);
    const auto exact = [&](size_t i) { return f.exact(x[i]); };
    ExpectWithinF64(column + ": " + f.name, ApplyF64(run, f.name, {x}), exact, f.limit);
  }
  const std::vector<std::vector<double>> xy = PowSamplesF64(count);
  const auto exact = [&](size_t i) { return std::pow(static_cast<long double>(xy[0][i]), xy[1][i]); };
  ExpectWithinF64(column + ": pow", ApplyF64(run, "pow", xy), exact, kPowLimitF64);
}

}  // namespace ir_test
