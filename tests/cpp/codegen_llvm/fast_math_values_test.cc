// Results that fast-math options must not change: math functions, whose expansions depend on how each operation rounds, and what is
// written as strict. On values, under every option, every two and all.
#include "ir/math_bounds.h"

namespace ir_test {
namespace {

constexpr const char* kOptions[] = {"-fast-math-nnan", "-fast-math-ninf", "-fast-math-nsz", "-fast-math-arcp",
                                    "-fast-math-reassoc"};

std::vector<std::string> Combinations() {
  std::vector<std::string> all = {"", "-fast-math-contract=0", "-fast-math", "-fast-math -fast-math-contract=0",
                                  "-fast-math -fast-math-nnan=0 -fast-math-ninf=0"};
  for (size_t i = 0; i < std::size(kOptions); ++i) {
    all.emplace_back(kOptions[i]);
    for (size_t j = i + 1; j < std::size(kOptions); ++j) all.push_back(std::string(kOptions[i]) + " " + kOptions[j]);
  }
  return all;
}

// Who promises that there is no NaN, or no infinity, gets anything for one.
bool PromisesFinite(const std::string& options) {
  const bool all = options.find("-fast-math") == 0 && options.find("nnan=0") == std::string::npos &&
                   (options == "-fast-math" || options[10] == ' ');
  return all || options.find("nnan") != std::string::npos || options.find("ninf") != std::string::npos;
}

class LlvmFastMathValues : public testing::TestWithParam<std::string> {};

TEST_P(LlvmFastMathValues, OfMathFunctionsStayWithinTheirErrors) {
  const std::string& options = GetParam();
  const Runner run = CompiledColumn("llvm " + options).compile(MathOfBothWidths("fast_math"));
  ExpectMathOfBothWidths("llvm " + options, run, !PromisesFinite(options));
}
INSTANTIATE_TEST_SUITE_P(Options, LlvmFastMathValues, testing::ValuesIn(Combinations()));

constexpr char kStrict[] =
    R"ir(func f(x: f32[N]) -> (rounded: f32[N], lost: f32[N], sum: f32[1], minus_one: f32[N]) {
      vectorized(8, masked) i in 0..N {
        rounded[i] = strict(x[i] + 12582912.0) - 12582912.0
      }
      for i in 0..N {
        let big = strict(x[i] + 16777216.0)
        lost[i] = strict(x[i] - (big - 16777216.0))
        minus_one[i] = exp(x[i]) - 1.0
      }
      sum[0] = strict(reduce(+, i in 0..N, sequential, x[i] + 16777216.0 - 16777216.0))
    })ir";

TEST(LlvmStrict, IsComputedAsItIsWritten) {
  const std::vector<float> values = {0.25f, 0.75f, 1.5f, 2.5f, -3.25f, 7, 10.5f, -0.5f, 3};
  const auto n = static_cast<int64_t>(values.size());
  for (const std::string options : {"", " -fast-math", " -fast-math -fast-math-contract=0"}) {
    Array x = Array::Of<float>(kF32, {n}, values), rounded(kF32, {n}), lost(kF32, {n}), sum(kF32, {1}), less(kF32, {n});
    const Compiled compiled(Parse(kStrict), ("llvm" + options).c_str());
    ASSERT_EQ(compiled.Call("f", {x.Value(), rounded.Value(), lost.Value(), sum.Value(), less.Value()}), "");
    float total = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      volatile float big = values[i] + 16777216.0f;
      const float kept = big - 16777216.0f;
      total += kept;
      EXPECT_EQ(rounded.as<float>()[i], std::nearbyint(values[i])) << options << ": " << values[i];
      EXPECT_EQ(lost.as<float>()[i], values[i] - kept) << options << ": " << values[i];
      EXPECT_LE(std::fabs(less.as<float>()[i] - std::expm1(values[i])), 3e-7 * std::exp(values[i])) << options;
    }
    EXPECT_EQ(sum.as<float>()[0], total) << options;
  }
}

}  // namespace
}  // namespace ir_test
