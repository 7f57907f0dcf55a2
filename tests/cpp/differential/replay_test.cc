// A failure of the comparison says what it takes to see it again.
#include <gtest/gtest.h>

#include "differential/agree.h"

namespace ir_test {
namespace {

// A column that is wrong on purpose: what it adds, it subtracts.
struct WrongSum : Mutator {
  Expr MutateExpr(const Expr& e) override {
    const Expr made = Mutator::MutateExpr(e);
    return made->op == Op::kAdd && made->type == kI32 ? made->args[0] - made->args[1] : made;
  }
};
Column Wrong() {
  return {"wrong", [](const IRModule& module) {
            IRModule changed = module;
            for (PrimFunc& f : changed.functions) f = WithBody(*f, WrongSum().MutateBlock(f->body));
            return Interpreted(Lower(changed));
          }};
}
Column Refusing() {
  return {"refusing", [](const IRModule& module) -> Runner {
            for (const PrimFunc& f : module.functions) {
              if (f->name == "fn7") KP_THROW(NotImplementedError) << "not this one";
            }
            return Interpreted(Lower(module));
          }};
}

// Of some cases with a schedule, the first that a wrong column fails on.
RandomCase FirstFailing(const Draw& draw, const Column& column) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const RandomCase c = draw(seed);
    if (!c.trace.empty() && !Disagreement({c}, "wrong", column).empty()) return c;
  }
  throw std::runtime_error("no case fails");
}

void ExpectReplayable(const Draw& draw) {
  const RandomCase c = FirstFailing(draw, Wrong());
  const std::string seed = std::to_string(c.seed), message = Disagreement({c}, "again", Wrong());
  EXPECT_EQ(message.rfind("seed " + seed + ": wrong and the interpreter differ on " + c.function() + ", N = ", 0), 0u)
      << message;
  EXPECT_NE(message.find("\nfunction:\n" + Print(c.plain)), std::string::npos) << message;
  EXPECT_NE(message.find("\nschedule:\n" + Lines(c.trace)), std::string::npos) << message;
  EXPECT_NE(message.find("\nreplay: KERNPACK_DIFFERENTIAL_ONLY=" + seed + " "), std::string::npos) << message;
  EXPECT_NE(message.find("--gtest_filter='DifferentialReplay."), std::string::npos) << message;
  EXPECT_NE(message.find("\nsmaller:\n"), std::string::npos) << message;
  // The same seed is the same function with the same schedule.
  const RandomCase again = draw(c.seed);
  EXPECT_EQ(Print(again.plain) + Lines(again.trace) + Print(again.scheduled),
            Print(c.plain) + Lines(c.trace) + Print(c.scheduled));
}

TEST(DifferentialReplay, OfAFunctionHasSeedTextScheduleAndCommand) { ExpectReplayable(LoopCases(Place::kHost)); }
TEST(DifferentialReplay, OfStagesHasSeedTextScheduleAndCommand) { ExpectReplayable(StageCases(Place::kHost)); }

TEST(DifferentialReplay, NamesTheFunctionOfAModuleThatDoesNotBuild) {
  const std::string message = Disagreement(Cases(0, 10, LoopCases(Place::kHost)), "ten", Refusing());
  EXPECT_EQ(message.rfind("seed 7: refusing doesn't build it: not this one\nfunction:\n", 0), 0u) << message;
  EXPECT_NE(message.find("\nreplay: KERNPACK_DIFFERENTIAL_ONLY=7 "), std::string::npos) << message;
}

TEST(DifferentialReplay, KeepsTheEnvironmentThatTheTestRunsIn) {
  const Environment flags("KERNPACK_CFLAGS", "-O0 -g"), rounds("KERNPACK_DIFFERENTIAL_ROUNDS", "9");
  const std::string command = ReplayCommand(12);
  EXPECT_NE(command.find(" 'KERNPACK_CFLAGS=-O0 -g' "), std::string::npos) << command;
  EXPECT_EQ(command.find("ROUNDS"), std::string::npos) << command;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(DifferentialReplayDeathTest, ACrashSaysWhichSeedsRan) {
  const auto crash = [] {
    const CrashNote note("seeds 50 to 99");
    std::abort();
  };
  EXPECT_DEATH(crash(), "seeds 50 to 99");
}
#endif

}  // namespace
}  // namespace ir_test
