// Generated C computes what it says whatever flags its compiler gets.
#include "ir/math_bounds.h"

namespace ir_test {
namespace {

class CFastMath : public testing::TestWithParam<const char*> {};

TEST_P(CFastMath, LeavesMathFunctionsWithinTheirErrors) {
  const Environment environment("KERNPACK_CFLAGS", GetParam());
  const Runner run = CompiledColumn("c").compile(MathOfBothWidths("fast_math_c"));
  ExpectMathOfBothWidths(std::string("c ") + GetParam(), run, true);
}
INSTANTIATE_TEST_SUITE_P(Flags, CFastMath,
                         testing::Values("-ffast-math", "-Ofast",
                                         "-fassociative-math -freciprocal-math -fno-signed-zeros -fno-trapping-math "
                                         "-ffinite-math-only"));

// Who compiles the text gets what it says too.
TEST(CFastMathText, TellsItsCompiler) {
  const std::string text =
      kernpack::sdk::Source(Parse("func f(x: f32[N]) -> (o: f32[N]) { o[0] = x[0] }"), kernpack::sdk::Target("c"));
  EXPECT_NE(text.find("#pragma GCC optimize(\"no-fast-math"), std::string::npos);
  EXPECT_NE(text.find("#pragma float_control(precise, on)"), std::string::npos);
}

}  // namespace
}  // namespace ir_test
