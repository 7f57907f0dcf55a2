// Math of what is stored as f16, bf16 or f8 is that of f32, rounded once: on every value of these types, for any generator.
#pragma once

#include <gtest/gtest.h>
#include <kernpack/float8.h>

#include <bit>
#include <cmath>

#include "differential/columns.h"

namespace ir_test {

struct FunctionOfStorage {
  const char* name;
  double (*exact)(double);
};
inline constexpr FunctionOfStorage kFunctionsOfStorage[] = {
    {"exp", [](double x) { return std::exp(x); }},   {"log", [](double x) { return std::log(x); }},
    {"tanh", [](double x) { return std::tanh(x); }}, {"erf", [](double x) { return std::erf(x); }},
    {"sin", [](double x) { return std::sin(x); }},   {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
};

// exp_of_f16(x) and so on, for every function and type.
inline IRModule MathOfStorage(const std::string& name) {
  std::string text = "module \"" + name + "\"\n";
  for (const std::string type : {"f16", "bf16", "f8_e4m3fn", "f8_e5m2"}) {
    for (const FunctionOfStorage& f : kFunctionsOfStorage) {
      text += std::string("func ") + f.name + "_of_" + type + "(x: " + type + "[N]) -> (o: " + type +
              "[N]) { for i in 0..N { o[i] = " + type + "(" + f.name + "(f32(x[i]))) } }\n";
    }
  }
  return Parse(text);
}

// T: kp::half and the like; what a value of it is, from its bits.
template <class T>
double FromStorage(uint32_t bits) {
  return T::from_bits(static_cast<typename T::Bits>(bits));
}

// One of T's values beside `exact`, and the nearer one unless `exact` is halfway within f32's own error.
template <class T>
bool IsRounded(uint32_t got_bits, double exact) {
  const uint32_t nearest_bits = T(static_cast<float>(exact)).bits();
  const double got = FromStorage<T>(got_bits), nearest = FromStorage<T>(nearest_bits);
  if (std::isnan(nearest) || got_bits == nearest_bits) return std::isnan(got) == std::isnan(nearest);
  const bool neighbours = got_bits + 1 == nearest_bits || nearest_bits + 1 == got_bits;
  return neighbours && std::fabs((got + nearest) / 2 - exact) <= 8 * 0x1p-24 * std::fabs(exact);
}

template <class T>
void ExpectMath(const std::string& type, const Runner& run) {
  using Bits = typename T::Bits;
  Type dtype;
  ASSERT_TRUE(TypeFromName(type, &dtype));
  std::vector<Bits> all(size_t{1} << (8 * sizeof(Bits)));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Bits>(i);
  Array x = Array::Of<Bits>(dtype, {static_cast<int64_t>(all.size())}, all), out(dtype, x.shape);
  for (const FunctionOfStorage& f : kFunctionsOfStorage) {
    ASSERT_EQ(run(std::string(f.name) + "_of_" + type, {x.Value(), out.Value()}), "");
    for (size_t i = 0; i < all.size(); ++i) {
      const double in = FromStorage<T>(all[i]), exact = f.exact(in);
      ASSERT_TRUE(IsRounded<T>(out.as<Bits>()[i], exact))
          << f.name << " of " << type << ' ' << in << " is " << FromStorage<T>(out.as<Bits>()[i]) << ", not " << exact;
    }
  }
}

inline void ExpectMathOfStorage(const Runner& run) {
  ExpectMath<kernpack::half>("f16", run);
  ExpectMath<kernpack::bfloat16>("bf16", run);
  ExpectMath<kernpack::float8_e4m3fn>("f8_e4m3fn", run);
  ExpectMath<kernpack::float8_e5m2>("f8_e5m2", run);
}

}  // namespace ir_test
