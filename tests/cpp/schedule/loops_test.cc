// Schedules of plain loops.
#include <kernpack/sdk/schedule/loops.h>

#include <functional>

#include "schedule/support.h"

namespace schedule_test {
namespace {

const IRModule& Module() {
  static const IRModule module = Parse(R"(
    func f(x: i32[N]) -> (o: i32[N], s: i32[N], c: i32[8]) {
      for i in 0..N { o[i] = x[i] * 2i32 }
      for j in 0..N { s[j] = load_if(s[j - 1], j > 0, 0i32) + x[j] }
      for k in 0..8 { c[k] = 1i32 }
      for l in N - 3..N - 1 { if l >= 0 { o[l] = o[l] + 1i32 } }
      for m in 0..8 { c[m] = c[m] + 2i32 } for m in 0..4 { c[m] = 3i32 }
    })");
  return module;
}

void ExpectSame(const IRModule& changed) {
  EXPECT_FALSE(Equal(changed, Module()));
  EXPECT_TRUE(Equal(Parse(Print(changed)), changed)) << Print(changed);
  for (const int64_t n : {0, 1, 2, 7, 8, 20})
    EXPECT_EQ(GetResults(Module().functions[0], {n}), GetResults(changed.functions[0], {n})) << n << Print(changed);
}

TEST(Loops, AreSplit) {
  for (const char* loop : {"i", "j", "k", "l"}) {
    for (const Tail tail : {Tail::kPeeled, Tail::kMasked}) {
      ExpectSame(SplitLoop(Module(), "f", loop, 4, tail));
      ExpectSame(SplitLoop(SplitLoop(Module(), "f", loop, 6, tail), "f", loop + std::string("_i"), 4, tail));
    }
  }
}

TEST(Loops, AreUnrolled) { ExpectSame(UnrollLoop(Module(), "f", "k")); }

TEST(Loops, AreParallelAndVectorizedWhereIterationsAreIndependent) {
  ExpectSame(ParallelLoop(Module(), "f", "i", 8));
  ExpectSame(VectorizeLoop(Module(), "f", "i", 8, Tail::kMasked));
  ExpectSame(VectorizeLoop(SplitLoop(Module(), "f", "i", 16), "f", "i_i", 4));
}

TEST(Loops, AreLeftAsTheyWereWhereThatCannotBe) {
  const IRModule& m = Module();
  EXPECT_EQ(CatchMessage([&] { SplitLoop(m, "g", "i", 4); }), "NameError: split: the module has no function 'g'");
  EXPECT_EQ(CatchMessage([&] { SplitLoop(m, "f", "z", 4); }),
            "NameError: split: function 'f', loop 'z': there is no such loop");
  EXPECT_EQ(CatchMessage([&] { SplitLoop(m, "f", "m", 4); }),
            "ValueError: split: function 'f', loop 'm': there are 2 loops of this name; rename the others");
  EXPECT_EQ(CatchMessage([&] { SplitLoop(m, "f", "i", 0); }),
            "ValueError: split: function 'f', loop 'i': expected a factor from 1, got 0");
  EXPECT_EQ(CatchMessage([&] { UnrollLoop(m, "f", "i"); }),
            "ValueError: unroll: function 'f', loop 'i': its bounds are not constant; split it first");
  EXPECT_EQ(CatchMessage([&] { ParallelLoop(ParallelLoop(m, "f", "i"), "f", "i"); }),
            "ValueError: parallel: function 'f', loop 'i': it is not serial any more");
  EXPECT_EQ(CatchMessage([&] { VectorizeLoop(m, "f", "i", 6); }),
            "ValueError: vectorized i: expected 2, 4, ... or 64 lanes, got 6");
  const IRModule left = Parse("func f(x!: i32[N]) -> () { for i in 0..N { if x[i] > 3i32 { break } x[i] = 0i32 } }");
  for (const auto& change : {std::function<void()>([&] { SplitLoop(left, "f", "i", 4); }),
                             std::function<void()>([&] { ParallelLoop(left, "f", "i"); })}) {
    EXPECT_NE(CatchMessage(change).find("it holds `break` or `continue`, and stays as it is"), std::string::npos);
  }
  const std::string race = CatchMessage([&] { ParallelLoop(m, "f", "j"); });
  EXPECT_NE(race.find("iterations of the parallel loop over 'j' may touch the same elements of 's'"), std::string::npos)
      << race;
}

}  // namespace
}  // namespace schedule_test
