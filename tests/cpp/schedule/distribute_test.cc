// Loops whose iterations depend on each other run in strips: what doesn't depend on another iteration first, as vectors where it has math
// functions. Results stay what they are to the bit.
#include <kernpack/sdk/schedule/default.h>

#include "schedule/support.h"

namespace schedule_test {
namespace {

using kernpack::sdk::Target;

struct StripLoop {
  const char* name;
  const char* text;
  std::vector<std::vector<int64_t>> sizes;
  // Of the scheduled text: a part that it has, or that it must not have.
  const char* has = "_strip";
  const char* has_not = "nothing";
};

const std::vector<std::vector<int64_t>> kRowSizes{{2, 70, 5}, {1, 130, 16}, {3, 17, 20},
                                                  {1, 1, 1},  {0, 3, 2},    {2, 0, 3}};
const std::vector<std::vector<int64_t>> kLineSizes{{200}, {64}, {65}, {3}, {0}};

// An online softmax around what a condition lets through.
#define ATTENTION(condition, more)                                                                      \
  "func f(q: f32[B, S, D], k: f32[B, S, D]" more                                                        \
  ") -> (o: f32[B, S, D]) { for b in 0..B { for i in 0..S { "                                           \
  "alloc largest: f32[1] local largest[0] = -inf alloc total: f32[1] local total[0] = 0.0 "             \
  "for d in 0..D { o[b, i, d] = 0.0 } "                                                                 \
  "for t in 0..S { if " condition                                                                       \
  " { let score = reduce(+, d in 0..D, any 16, q[b, i, d] * k[b, t, d]) * 0.125 "                       \
  "let new = max(largest[0], score) let scale = exp(largest[0] - new) let p = exp(score - new) "        \
  "total[0] = total[0] * scale + p for d in 0..D { o[b, i, d] = o[b, i, d] * scale + p * q[b, t, d] } " \
  "largest[0] = new } } for d in 0..D { o[b, i, d] = o[b, i, d] / total[0] } } } }"

const StripLoop kStripLoops[] = {
    {"Attention", ATTENTION("true", ""), kRowSizes},
    {"UpToTheRow", ATTENTION("t <= i", ""), kRowSizes, "_strip", "is_taken"},
    {"BelowALimit", ATTENTION("i + 1 > t", ""), kRowSizes, "_strip", "is_taken"},
    {"WindowOfRows", ATTENTION("t <= i & t > i - 3", ""), kRowSizes, "is_taken"},
    {"MaskInMemory", ATTENTION("m[b, t] > 0.0", ", m: f32[B, S]"), kRowSizes, "is_taken"},
    {"RowsTakeTurns", ATTENTION("true", ""), kRowSizes, "i_first"},
    {"Recurrence",  // the exponential is of what is there before
     R"(func f(x: f32[N]) -> (o: f32[N]) {
       alloc s: f32[1] local
       s[0] = 0.5
       for i in 0..N { let e = exp(x[i]) s[0] = s[0] * 0.5 + e o[i] = s[0] }
     })",
     kLineSizes},
    {"ValueOfTheIterationBefore",  // of which the store comes last
     R"(func f(x: f32[N]) -> (o: f32[N]) {
       alloc s: f32[1] local
       s[0] = 0.5
       for i in 0..N { o[i] = exp(s[0] - x[i]) s[0] = s[0] * 0.5 + x[i] }
     })",
     kLineSizes},
    {"ElementOfTheIterationBefore",
     R"(func f(x: f32[N], y!: f32[N + 1]) -> (o: f32[N]) {
       for i in 0..N { y[i + 1] = y[i] * 0.5 + x[i] let e = tanh(y[i]) o[i] = e + y[i + 1] }
     })",
     kLineSizes, "for i", "_strip"},
    {"DependsThroughMath",
     R"(func f(x: f32[N]) -> (o: f32[N]) {
       alloc s: f32[1] local
       s[0] = 0.5
       for i in 0..N { s[0] = tanh(s[0] + x[i]) o[i] = s[0] }
     })",
     kLineSizes, "for i", "_strip"},
    {"WithoutMath",
     R"(func f(x: f32[N]) -> (o: f32[N]) {
       alloc s: f32[1] local
       s[0] = 0.5
       for i in 0..N { let e = x[i] * 2.0 s[0] = s[0] + e o[i] = s[0] }
     })",
     kLineSizes, "for i", "_strip"},
    {"LeavesTheLoop",
     R"(func f(x: f32[N]) -> (o: f32[N]) {
       for i in 0..N { o[i] = 0.0 }
       alloc s: f32[1] local
       s[0] = 0.5
       for i in 0..N { let e = exp(x[i]) if s[0] > 4.0 { break } s[0] = s[0] + e o[i] = s[0] }
     })",
     kLineSizes, "for i", "_strip"},
    {"StoredInABranch",
     R"(func f(x: f32[N]) -> (o: f32[N]) {
       alloc s: f32[1] local
       s[0] = 0.5
       for i in 0..N { let e = exp(x[i]) if e > 1.0 { s[0] = s[0] + e } else { s[0] = 0.25 } o[i] = s[0] }
     })",
     kLineSizes},
};

void PrintTo(const StripLoop& l, std::ostream* out) { *out << l.name; }

class ScheduleDistribute : public testing::TestWithParam<StripLoop> {};

TEST_P(ScheduleDistribute, KeepsResults) {
  const IRModule plain = Parse(GetParam().text);
  for (const char* target : {"llvm -mcpu=x86-64-v4", "llvm -mcpu=x86-64-v3", "c -mcpu=x86-64-v2"}) {
    const IRModule scheduled = ScheduleByDefault(plain, Target(target));
    const std::string text = Print(scheduled);
    SCOPED_TRACE(target + ("\n" + text));
    EXPECT_NE(text.find(GetParam().has), std::string::npos);
    EXPECT_EQ(text.find(GetParam().has_not), std::string::npos);
    EXPECT_TRUE(Equal(Parse(text), scheduled));
    for (const std::vector<int64_t>& dims : GetParam().sizes)
      ASSERT_EQ(GetResults(plain.functions[0], dims), GetResults(scheduled.functions[0], dims));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ScheduleDistribute, testing::ValuesIn(kStripLoops),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace schedule_test
