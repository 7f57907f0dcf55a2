// Every math function of f32 and f64 on a few thousand values each, against its stated bound: for tests of generators under
// options that let a compiler change float arithmetic.
#pragma once

#include "ir/math_f32.h"
#include "ir/math_f64.h"

namespace ir_test {

// f32_exp(x) and so on, f32_pow(x, y), and the same for f64.
inline IRModule MathOfBothWidths(const std::string& name) {
  std::string text = "module \"" + name + "\"\n";
  const auto add = [&text](const std::string& type, const std::string& f, int lanes) {
    const bool pow = f == "pow";
    text += "func " + type + "_" + f + "(x: " + type + "[N]" + (pow ? ", y: " + type + "[N]" : "") +
            ") -> (o: " + type + "[N]) { vectorized(" + std::to_string(lanes) + ", masked) i in 0..N { o[i] = " + f +
            "(x[i]" + (pow ? ", y[i]" : "") + ") } }\n";
  };
  for (const FunctionF32& f : kFunctionsF32) {
    if (f.limit >= 1) add("f32", f.name, 8);  // the others are operations, not expansions
  }
  add("f32", "pow", 8);
  for (const FunctionF64& f : kFunctionsF64) add("f64", f.name, 4);
  add("f64", "pow", 4);
  return Parse(text);
}

// Any exponent; where functions are hard; the ends of ranges; `special`: infinities and NaN.
inline std::vector<float> SamplesF32(bool special) {
  std::vector<float> x = {0,       -0.0f,    1,     -1, 0x1p-149f, -0x1p-149f, 0x1p-126f,
                          3.4e38f, -3.4e38f, 88.7f, 89, -87.3f,    -104};
  std::mt19937 random(5);
  for (int i = 0; i < 1024; ++i) {
    const float any = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isfinite(any)) x.push_back(any);
    x.push_back(static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(random()))) * 0x1p-24f);  // to 128
  }
  if (special) x.insert(x.end(), {HUGE_VALF, -HUGE_VALF, std::numeric_limits<float>::quiet_NaN()});
  return x;
}

template <class T>
std::vector<T> Applied(const Runner& run, const std::string& function, const std::vector<std::vector<T>>& inputs) {
  const Type type = sizeof(T) == 4 ? kF32 : kF64;
  std::vector<Array> arrays;
  for (const std::vector<T>& values : inputs)
    arrays.push_back(Array::Of<T>(type, {static_cast<int64_t>(values.size())}, values));
  arrays.emplace_back(type, arrays[0].shape);
  std::vector<KpAny> args;
  for (Array& a : arrays) args.push_back(a.Value());
  EXPECT_EQ(run(function, args), "");
  const T* out = arrays.back().as<T>();
  return std::vector<T>(out, out + inputs[0].size());
}

// `error` of the index of a sample.
template <class F>
void ExpectErrors(const std::string& what, size_t count, double limit, F error) {
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i) wrong += error(i) > limit ? 1 : 0;
  EXPECT_EQ(wrong, 0u) << what << ": of " << count << " results so many are off by more than " << limit << " ulp";
}

inline void ExpectMathOfBothWidths(const std::string& label, const Runner& run, bool special) {
  const std::vector<float> x = SamplesF32(special);
  std::vector<double> exact(x.size());
  for (const FunctionF32& f : kFunctionsF32) {
    if (f.limit < 1) continue;
    const std::vector<float> got = Applied<float>(run, std::string("f32_") + f.name, {x});
    f.exact(x.data(), exact.data(), x.size());
    ExpectErrors(label + ": f32 " + f.name, x.size(), f.limit, [&](size_t i) { return UlpsApart(got[i], exact[i]); });
  }
  std::vector<std::vector<float>> xy(2);
  for (const std::vector<std::vector<double>> samples = PowSamplesF64(2048); const double base : samples[0]) {
    const auto narrow = static_cast<float>(base);
    if (!std::isfinite(narrow) || narrow == 0) continue;
    xy[0].push_back(narrow);
    xy[1].push_back(static_cast<float>(xy[0].size() % 256) - 128.0f);
  }
  const std::vector<float> pow = Applied<float>(run, "f32_pow", xy);
  ExpectErrors(label + ": f32 pow", pow.size(), 1, [&](size_t i) {
    return UlpsApart(pow[i], std::pow(static_cast<double>(xy[0][i]), static_cast<double>(xy[1][i])));
  });

  const auto finite = [special](double v) { return special || std::isfinite(v); };
  for (const FunctionF64& f : kFunctionsF64) {
    std::vector<double> values;
    for (const double v : SamplesF64(f.range, 2048)) {
      if (finite(v)) values.push_back(v);
    }
    const std::vector<double> got = Applied<double>(run, std::string("f64_") + f.name, {values});
    ExpectErrors(label + ": f64 " + f.name, values.size(), f.limit,
                 [&](size_t i) { return UlpsApartF64(got[i], f.exact(values[i])); });
  }
  const std::vector<std::vector<double>> wide = PowSamplesF64(2048);
  const std::vector<double> pow64 = Applied<double>(run, "f64_pow", wide);
  ExpectErrors(label + ": f64 pow", pow64.size(), kPowLimitF64, [&](size_t i) {
    return UlpsApartF64(pow64[i], std::pow(static_cast<long double>(wide[0][i]), wide[1][i]));
  });
}

}  // namespace ir_test
