// The float operations that a target allows LLVM: contraction, and others only if it asks for them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/compiled.h"

namespace ir_test {
namespace {

constexpr char kText[] =
    R"ir(func f(x: f32[N], y: f32[N]) -> (o: f32[N], d: f32[N]) {
      for i in 0..N {
        o[i] = x[i] * y[i] + 1.0
        d[i] = x[i] - x[i]
      }
    })ir";

// The generator's LLVM IR, as it was made, with the scalar code that follows vectors whatever machine this is.
std::string Source(const std::string& options) {
  return kernpack::sdk::Source(Parse(kText), kernpack::sdk::Target("llvm -mcpu=x86-64-v2 -opt-level=0" + options));
}

bool Has(const std::string& options, const char* text) { return Source(options).find(text) != std::string::npos; }

TEST(LlvmFastMath, IsContractionAloneByDefault) {
  EXPECT_TRUE(Has("", "fmul contract float"));
  for (const char* const flag : {"nnan", "ninf", "nsz", "arcp", "reassoc", "afn"}) EXPECT_FALSE(Has("", flag)) << flag;
}

TEST(LlvmFastMath, ContractionIsSwitchedOff) { EXPECT_TRUE(Has(" -fast-math-contract=0", "fmul float")); }

TEST(LlvmFastMath, OptionsAreSingle) {
  EXPECT_TRUE(Has(" -fast-math-nnan", "fmul nnan contract float"));
  EXPECT_TRUE(Has(" -fast-math-ninf", "fmul ninf contract float"));
  EXPECT_TRUE(Has(" -fast-math-nsz", "fmul nsz contract float"));
  EXPECT_TRUE(Has(" -fast-math-arcp", "fmul arcp contract float"));
  EXPECT_TRUE(Has(" -fast-math-reassoc", "fmul reassoc contract float"));
}

TEST(LlvmFastMath, AllCanBeGivenAndSomeTakenBack) {
  EXPECT_TRUE(Has(" -fast-math", "fmul reassoc nnan ninf nsz arcp contract float"));
  EXPECT_TRUE(Has(" -fast-math -fast-math-nnan=0 -fast-math-ninf=0", "fmul reassoc nsz arcp contract float"));
}

// x - x is NaN for NaN, unless the caller promised that there is none.
TEST(LlvmFastMath, PromisesAreBelieved) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Array x = Array::Of<float>(kF32, {1}, {nan}), y = x, o(kF32, {1}), d(kF32, {1});
  const std::vector<KpAny> args = {x.Value(), y.Value(), o.Value(), d.Value()};
  ASSERT_EQ(Compiled(Parse(kText), "llvm").Call("f", args), "");
  EXPECT_TRUE(std::isnan(d.as<float>()[0]));
  ASSERT_EQ(Compiled(Parse(kText), "llvm -fast-math").Call("f", args), "");
  EXPECT_EQ(d.as<float>()[0], 0);
}

}  // namespace
}  // namespace ir_test
