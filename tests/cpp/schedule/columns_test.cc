// Loops whose iterations add something up run in tiles of registers, with vectors along columns. Results stay what they
// are to the bit.
#include <kernpack/sdk/schedule/default.h>

#include "schedule/support.h"

namespace schedule_test {
namespace {

using kernpack::sdk::Target;

struct Nest {
  const char* name;
  const char* text;
  std::vector<std::vector<int64_t>> sizes;
  bool is_tiled = true;
};

const std::vector<std::vector<int64_t>> kMatrices{{37, 300}, {5, 17}, {16, 256}, {0, 3}, {3, 0}, {1, 1}};
const std::vector<std::vector<int64_t>> kImages{{1, 3, 10, 2, 70}, {2, 4, 3, 3, 5}, {1, 3, 8, 0, 64}, {0, 3, 4, 2, 3}};

const Nest kNests[] = {
    {"ColumnSums",
     R"(func f(x: f32[M, N], c: f32[M]) -> (o: f32[N], p: f32[N]) {
       for j in 0..N {
         let s = reduce(+, i in 0..M, any 16, x[i, j] * c[i])
         o[j] = s + 1.0
         p[j] = reduce(max, i in 0..M, sequential, x[i, j]) * s
       }
     })",
     kMatrices},
    {"ColumnsOfBytes",
     R"(func f(x: i8[M, N], b: f64[N]) -> (o: f64[N]) {
       for j in 0..N { o[j] = f64(reduce(+, i in 0..M, any 4, i32(x[i, j]))) * b[j] }
     })",
     kMatrices},
    {"SumOverThreeAxes",
     R"(func f(x: f32[B, H, W, C], w: f32[3, 3, C, F]) -> (o: f32[B, H - 2, W - 2, F]) {
       for b in 0..B { for i in 0..H - 2 { for j in 0..W - 2 { for f in 0..F {
         o[b, i, j, f] = reduce(+, r in 0..3, any 16, reduce(+, s in 0..3, any 2,
           reduce(+, c in 0..C, any 16, x[b, i + r, j + s, c] * w[r, s, c, f])))
       } } } }
     })",
     kImages},
    {"LoopsOverTaps",
     R"(func f(x: f32[B, H, W, C], w: f32[3, 3, C, F]) -> (o: f32[B, H - 2, W - 2, F]) {
       for b in 0..B { for i in 0..H - 2 { for j in 0..W - 2 {
         for f in 0..F { o[b, i, j, f] = 0.0 }
         for r in 0..3 { for s in 0..3 { for c in 0..C {
           for f in 0..F { o[b, i, j, f] = o[b, i, j, f] + x[b, i + r, j + s, c] * w[r, s, c, f] }
         } } }
       } } }
     })",
     kImages},
    {"LocalVariable",
     R"(func f(a: f32[M, K], b: f32[K, N]) -> (o: f32[M, N]) {
       for i in 0..M { for j in 0..N {
         alloc s: f32[1] local
         s[0] = 1.0
         for k in 0..K { s[0] = s[0] * 0.5 + a[i, k] * b[k, j] }
         o[i, j] = s[0]
       } }
     })",
     {{13, 7, 70}, {6, 0, 64}, {1, 3, 5}, {0, 2, 3}}},
    {"AddedToWhatIsThere",  // by a loop that may not run
     R"(func f(a: f32[M, K], b: f32[K, N], o!: f32[M, N]) -> () {
       for i in 0..M { for k in 0..K { for j in 0..N { o[i, j] = o[i, j] + a[i, k] * b[k, j] } } }
     })",
     {{13, 7, 70}, {6, 0, 64}, {1, 3, 5}}},
    {"BoundOfRow",  // columns alone are tiled
     R"(func f(x: f32[M, N]) -> (o: f32[M, N]) {
       for i in 0..M { for j in 0..N { o[i, j] = reduce(+, k in 0..i + 1, sequential, x[k, j]) } }
     })",
     kMatrices},
    {"ReadAndStoredAgain",  // an integer that is named keeps its value
     R"(func f(x: i32[M, N], o!: i32[N]) -> () {
       for j in 0..N {
         let before = o[j]
         o[j] = reduce(+, i in 0..M, sequential, x[i, j])
         for i in 0..M { o[j] = o[j] * 3 - x[i, j] + before }
       }
     })",
     kMatrices},
    {"BeyondTheProof",  // tiles of a loop of three rows reach into the next three, for all that the verifier sees
     R"(func f(x: f32[M, N]) -> (o: f32[M, N]) {
       for a in 0..M / 3 { for i in a * 3..a * 3 + 3 { for j in 0..N {
         o[i, j] = x[i, j] + reduce(+, k in 0..M, sequential, x[k, j])
       } } }
       for i in M / 3 * 3..M { for j in 0..N { o[i, j] = 0.0 } }
     })",
     kMatrices, false},
    {"Rows",  // elements of a sum are neighbours, columns are not
     "func f(x: f32[M, N]) -> (o: f32[M]) { for i in 0..M { o[i] = reduce(+, j in 0..N, any 16, x[i, j]) } }",
     kMatrices, false},
    {"Gathered",
     R"(func f(x: f32[M, N], at: i32[N]) -> (o: f32[N]) {
       for j in 0..N { o[j] = reduce(+, i in 0..M, sequential, load_if(x[i, i64(at[j])], at[j] >= 0 & i64(at[j]) < N, 0.0)) }
     })",
     kMatrices, false},
    {"DependsOnTheColumnBefore",
     R"(func f(x: f32[M, N], o!: f32[N + 1]) -> () {
       for j in 0..N { o[j + 1] = o[j] + reduce(+, i in 0..M, sequential, x[i, j]) }
     })",
     kMatrices, false},
};

void PrintTo(const Nest& n, std::ostream* out) { *out << n.name; }

class ScheduleColumns : public testing::TestWithParam<Nest> {};

TEST_P(ScheduleColumns, KeepsResults) {
  const IRModule plain = Parse(GetParam().text);
  for (const char* target : {"llvm -mcpu=x86-64-v4", "llvm -mcpu=x86-64-v3", "c -mcpu=x86-64-v2"}) {
    const IRModule scheduled = ScheduleByDefault(plain, Target(target));
    SCOPED_TRACE(target + ("\n" + Print(scheduled)));
    EXPECT_EQ(Print(scheduled).find("unrolled vector") != std::string::npos, GetParam().is_tiled);
    EXPECT_TRUE(Equal(Parse(Print(scheduled)), scheduled));
    for (const std::vector<int64_t>& dims : GetParam().sizes)
      ASSERT_EQ(GetResults(plain.functions[0], dims), GetResults(scheduled.functions[0], dims));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ScheduleColumns, testing::ValuesIn(kNests),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace schedule_test
