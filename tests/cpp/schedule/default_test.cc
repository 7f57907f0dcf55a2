// Default schedules: what they make of plain loops, and that results stay what they are.
#include <kernpack/sdk/schedule/default.h>

#include "schedule/support.h"

namespace schedule_test {
namespace {

using kernpack::sdk::Target;

constexpr const char* kTargets[] = {"llvm -mcpu=x86-64-v2", "llvm -mcpu=x86-64-v3",
                                    "c -mcpu=x86-64-v4",    "opencl",
                                    "cuda -arch=sm_90",     "opencl -thread_warp_size=32 -max_num_threads=64"};

struct Function {
  const char* name;
  const char* text;
  std::vector<std::vector<int64_t>> sizes;
  const char* cpu;  // what it becomes for a CPU with vectors of 64 bytes: text that must be in it
  const char* gpu;  // the same for a GPU
};

const Function kFunctions[] = {
    {"Elementwise",
     "func f(x: f32[N]) -> (o: f32[N]) { for i in 0..N { o[i] = x[i] * 2.0 + 1.0 } }",
     {{0}, {1}, {37}, {16384}, {16390}},
     "vectorized(16, masked)",
     "launch grid("},
    {"ElementwiseOfMatrices",
     "func f(x: f32[N, D]) -> (o: f32[N, D]) { for i in 0..N { for j in 0..D { o[i, j] = abs(x[i, j]) } } }",
     {{0, 3}, {3, 0}, {5, 33}, {20, 7}},
     "parallel(8)",
     "block(256, 1, 1)"},
    {"RowReduction",
     "func f(x: f32[N, D]) -> (o: f32[N]) { for i in 0..N { o[i] = reduce(+, j in 0..D, any 16, x[i, j]) } }",
     {{0, 3}, {3, 0}, {5, 33}, {20, 7}},
     "parallel(8)",
     "partial: f32[16] shared"},
    {"Softmax",
     R"(func f(x: f32[N, D]) -> (o: f32[N, D]) {
       for i in 0..N {
         let m = reduce(max, j in 0..D, any 16, x[i, j])
         alloc e: f32[D] workspace
         for k in 0..D { e[k] = exp(x[i, k] - m) }
         let s = reduce(+, j in 0..D, any 16, e[j])
         for k in 0..D { o[i, k] = e[k] / s }
       }
     })",
     {{0, 3}, {3, 0}, {5, 33}, {20, 7}},
     "vectorized(16, masked)",
     "partial: f32[16] shared"},
    {"LayerNorm",
     R"(func f(x: f32[N, D], w: f32[D]) -> (o: f32[N, D]) {
       for i in 0..N {
         let n = f32(D)
         let mean = reduce(+, j in 0..D, any 16, x[i, j]) / n
         let square = reduce(+, j in 0..D, any 16, (x[i, j] - mean) * (x[i, j] - mean)) / n
         for k in 0..D { o[i, k] = (x[i, k] - mean) / sqrt(square + 0.00001) * w[k] }
       }
     })",
     {{0, 3}, {3, 0}, {5, 33}, {20, 7}},
     "vectorized(16, masked)",
     "partial: f32[16] shared"},
    {"Transpose",
     "func f(x: f32[N, D]) -> (o: f32[D, N]) { for i in 0..D { for j in 0..N { o[i, j] = x[j, i] } } }",
     {{0, 3}, {3, 0}, {16, 16}, {5, 33}, {20, 17}},
     "for i_i in 0..16",
     "x_cache: f32[16, 16] shared"},
    {"Stencil",
     R"(func f(x: f32[N, D]) -> (o: f32[N, D]) {
       for i in 0..N { for j in 0..D {
         o[i, j] = load_if(x[i, j - 1], j > 0, 0.0) + x[i, j] + load_if(x[i, j + 1], j + 1 < D, 0.0)
       } }
     })",
     {{0, 3}, {3, 0}, {5, 33}, {20, 7}},
     "vectorized(16, masked)",
     "launch grid("},
    {"Matmul",
     R"(func f(a: f32[M, K], b: f32[K, N]) -> (o: f32[M, N]) {
       for i in 0..M { for j in 0..N { o[i, j] = reduce(+, k in 0..K, sequential, a[i, k] * b[k, j]) } }
     })",
     {{0, 3, 4}, {1, 5, 40}, {3, 0, 4}, {13, 5, 33}, {24, 3, 64}, {25, 2, 130}},
     "parallel j_o_i_o in 0..(N + 63) / 64 * ((M + 11) / 12)",
     "b_cache: f32[16, 16] shared"},
    {"MatmulOfTransposed",
     R"(func f(a: f32[M, K], b: f32[N, K]) -> (o: f32[M, N]) {
       for i in 0..M { for j in 0..N { o[i, j] = reduce(+, k in 0..K, sequential, a[i, k] * b[j, k]) } }
     })",
     {{1, 5, 40}, {13, 5, 33}},
     "b_pack: f32[(N + 63) / 64, K, 64]",
     "b_cache: f32[16, 16] shared"},
    {"MatmulOfOneRow",
     R"(func f(a: f32[K], b: f32[K, N]) -> (o: f32[N]) {
       for j in 0..N { o[j] = reduce(+, k in 0..K, sequential, a[k] * b[k, j]) }
     })",
     {{0, 3}, {3, 0}, {7, 300}, {5, 17}},
     "o_local: f32[256] local",
     "launch grid("},
    {"Scan",  // each iteration needs the one before
     "func f(x: f32[N]) -> (o: f32[N]) { for i in 0..N { o[i] = x[i] + load_if(o[i - 1], i > 0, 0.0) } }",
     {{0}, {1}, {37}},
     "for i in 0..N",
     "launch grid(1, 1, 1) block(1, 1, 1)"},
    {"SeveralLoopsOverScratch",
     R"(func f(x: f32[N]) -> (o: f32[N]) {
       alloc t: f32[4] local
       for i in 0..4 { t[i] = load_if(x[i], i < N, 0.0) }
       for i in 0..N { o[i] = x[i] + t[i % 4] }
     })",
     {{0}, {1}, {37}},
     "vectorized(16, masked)",
     "t: f32[4] workspace"},
    {"WholeReduction",
     R"(func f(x: f32[N]) -> (o: f32[N]) {
       let m = reduce(max, i in 0..N, any 8, x[i])
       if N > 2 { for i in 0..N { o[i] = x[i] / m } } else { for i in 0..N { o[i] = m } }
     })",
     {{0}, {1}, {37}},
     "vectorized(16, masked)",
     "m: f32[1] workspace"},
};

void PrintTo(const Function& f, std::ostream* out) { *out << f.name; }

class ScheduleDefault : public testing::TestWithParam<Function> {};

TEST_P(ScheduleDefault, KeepsResultsForEveryTarget) {
  const IRModule plain = Parse(GetParam().text);
  for (const char* target : kTargets) {
    IRModule scheduled;
    ASSERT_EQ(CatchMessage([&] { scheduled = ScheduleByDefault(plain, Target(target)); }), "") << target;
    SCOPED_TRACE(target + ("\n" + Print(scheduled)));
    EXPECT_FALSE(Equal(plain, scheduled) && std::string(GetParam().name) != "Scan");
    EXPECT_TRUE(Equal(Parse(Print(scheduled)), scheduled));
    IRModule there = plain;
    there.target = Target(target).str();
    EXPECT_EQ(CatchMessage([&] { ScheduleByDefault(there, Target("llvm")); }), "")
        << "the verifier knows the target, too";
    for (const std::vector<int64_t>& dims : GetParam().sizes)
      ASSERT_EQ(GetResults(plain.functions[0], dims), GetResults(scheduled.functions[0], dims));
  }
}

TEST_P(ScheduleDefault, FitsTheTarget) {
  const IRModule plain = Parse(GetParam().text);
  const std::string cpu = Print(ScheduleByDefault(plain, Target("c -mcpu=x86-64-v4")));
  EXPECT_NE(cpu.find(GetParam().cpu), std::string::npos) << cpu;
  EXPECT_EQ(cpu.find("launch"), std::string::npos) << cpu;
  const std::string gpu = Print(ScheduleByDefault(plain, Target("cuda -arch=sm_90")));
  EXPECT_NE(gpu.find(GetParam().gpu), std::string::npos) << gpu;
  EXPECT_EQ(gpu.find("parallel"), std::string::npos) << gpu;
}

TEST_P(ScheduleDefault, LeavesItsOwnResultAlone) {
  if (std::string(GetParam().name) == "Scan") return;  // still a serial loop on a CPU
  const IRModule once = ScheduleByDefault(Parse(GetParam().text), Target("c -mcpu=x86-64-v4"));
  EXPECT_TRUE(Equal(ScheduleByDefault(once, Target("cuda -arch=sm_90")), once));
}

INSTANTIATE_TEST_SUITE_P(All, ScheduleDefault, testing::ValuesIn(kFunctions),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ScheduleByDefault, PrefersTheFunctionsTargetToTheModulesToTheOneGiven) {
  IRModule m = Parse("func f(x: f32[N]) -> (o: f32[N]) { for i in 0..N { o[i] = x[i] } }");
  EXPECT_NE(Print(ScheduleByDefault(m, Target("c -mcpu=x86-64-v4"))).find("vectorized(16"), std::string::npos);
  m.target = "c -mcpu=x86-64-v3";
  EXPECT_NE(Print(ScheduleByDefault(m, Target("c -mcpu=x86-64-v4"))).find("vectorized(8"), std::string::npos);
  FuncNode f = *m.functions[0];
  f.target = "c -mcpu=x86-64-v2";
  m.functions[0] = std::make_shared<const FuncNode>(f);
  EXPECT_NE(Print(ScheduleByDefault(m, Target("c -mcpu=x86-64-v4"))).find("vectorized(4"), std::string::npos);
}

// Written where they are used, 99 such values make the deepest expression that there may be.
TEST(ScheduleByDefault, KeepsResultsOfLongChainsOfNamedValues) {
  for (const int values : {99, 101, 400}) {
    std::string body = "let v0 = x[i] ";
    for (int k = 1; k < values; ++k) {
      const std::string number = std::to_string(k);
      body += "let v" + number + " = v" + std::to_string(k - 1) + " * 0.5 + " + number + ".0 ";
    }
    const IRModule plain = Parse("func f(x: f32[N]) -> (o: f32[N]) { for i in 0..N { " + body + "o[i] = v" +
                                 std::to_string(values - 1) + " } }");
    for (const char* target : kTargets) {
      IRModule scheduled;
      ASSERT_EQ(CatchMessage([&] { scheduled = ScheduleByDefault(plain, Target(target)); }), "") << target << values;
      ASSERT_EQ(GetResults(plain.functions[0], {37}), GetResults(scheduled.functions[0], {37})) << target << values;
    }
  }
}

TEST(ScheduleByDefault, LeavesWhatSomeoneScheduledAlone) {
  const IRModule m = Parse("func f(x: f32[N]) -> (o: f32[N]) { vectorized(4) i in 0..N { o[i] = x[i] } }");
  EXPECT_TRUE(Equal(ScheduleByDefault(m, Target("c -mcpu=x86-64-v4")), m));
}

}  // namespace
}  // namespace schedule_test
