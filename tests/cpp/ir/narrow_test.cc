// The passes that make vectors fit a processor's registers: none is wider, and no result changes.
#include <gtest/gtest.h>
#include <kernpack/sdk/ir/equal.h>
#include <kernpack/sdk/ir/pass.h>
#include <kernpack/sdk/ir/visitor.h>

#include "ir/same.h"

namespace ir_test {
namespace {

// The most lanes of any value.
int MostLanes(const IRModule& module) {
  struct Finder : Visitor {
    int lanes = 1;
    void VisitExpr(const Expr& e) override {
      lanes = std::max<int>(lanes, e->type.lanes);
      Visitor::VisitExpr(e);
    }
  } finder;
  for (const PrimFunc& f : module.functions) finder.VisitBlock(f->body);
  return finder.lanes;
}

struct Sample {
  const char* name;
  const char* text;
};
void PrintTo(const Sample& sample, std::ostream* out) { *out << sample.name; }

class IrSplit : public testing::TestWithParam<Sample> {};

TEST_P(IrSplit, KeepsEveryResult) {
  const IRModule lowered = Lower(Parse(GetParam().text));
  for (const int bytes : {8, 16, 64}) {
    const IRModule split = SplitVectors(lowered, bytes), apart = SplitLocals(split);
    EXPECT_LE(MostLanes(split), bytes / 4) << Print(split);
    EXPECT_TRUE(Equal(Parse(Print(apart)), apart)) << Print(apart);
    for (const int64_t n : {0, 1, 16, 19, 35}) {
      ExpectSame(lowered, split, {{"N", n}}, "vectors of " + std::to_string(bytes) + " bytes");
      ExpectSame(lowered, apart, {{"N", n}}, "locals apart");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Samples, IrSplit,
    testing::Values(
        Sample{"masked_loop",
               "func f(x: f32[N]) -> (o: f32[N]) { vectorized(16, masked) i in 0..N { o[i] = x[i] / x[0] + f32(i) } }"},
        Sample{"sum", "func f(x: f32[N]) -> (o: f32[1]) { o[0] = reduce(+, i in 0..N, any 16, x[i] * x[i]) }"},
        Sample{"any_bool", "func f(x: i32[N]) -> (o: bool[1]) { o[0] = reduce(|, i in 0..N, any 8, x[i] > 7i32) }"},
        Sample{"branches",
               R"ir(func f(x: i32[N], y!: i32[N]) -> (o: i32[N]) {
                 vectorized(16, masked) i in 0..N {
                   if x[i] > 0i32 {
                     o[i] = y[i]
                     y[i] = -5i32
                   } else {
                     if N > 8 {
                       o[i] = x[i] + 1i32
                     }
                   }
                 }
               })ir"},
        Sample{"gathered",
               R"ir(func f(x: f32[N], at: u8[N]) -> (o: f32[N]) {
                 vectorized(8, masked) i in 0..N {
                   o[i] = x[i64(at[i]) % N]
                 }
               })ir"},
        Sample{"reversed_in_place",
               "func f(x!: i32[16]) -> () { x[ramp(15, -1, 16)] = x[ramp(0, 1, 16)] + broadcast(1i32, 16) }"},
        Sample{"scattered_twice_to_one_place",
               R"ir(func f(x: i32[16]) -> (o: i32[1]) {
                 o[broadcast(0, 16)] = x[ramp(0, 1, 16)] where x[ramp(0, 1, 16)] > broadcast(0i32, 16)
               })ir"},
        Sample{"shuffled",
               R"ir(func f(x: i32[16]) -> (o: i32[20]) {
                 let v = x[ramp(0, 1, 8)]
                 let w = x[ramp(8, 1, 8)] * v
                 o[ramp(0, 1, 16)] = shuffle(v, w, [0, 8, 1, 9, 2, 10, 3, 11, 15, 14, 13, 12, 7, 6, 5, 4])
                 o[ramp(16, 1, 2)] = shuffle(w, v, [9, 0])
                 o[18] = shuffle(v, w, [13])
                 o[19] = lanes(min, shuffle(v, 7i32, [8, 1, 8, 3]))
               })ir"},
        Sample{"lanes_in_an_index",
               R"ir(func f(x: i32[16]) -> (o: i32[16]) {
                 o[i64(lanes(&, x[ramp(0, 1, 16)] & broadcast(15i32, 16)))] = lanes(+, x[ramp(0, 1, 16)])
               })ir"},
        Sample{"scalars_between",
               R"ir(func f(x: f32[16], k: f32[]) -> (o: f32[16]) {
                 let s = sqrt(abs(k[])) + 1.0
                 o[ramp(0, 1, 16)] = select(s > 2.0, x[ramp(0, 1, 16)], broadcast(k[] / s, 16))
               })ir"},
        Sample{"local_rows",
               R"ir(func f(x: f32[2, 16]) -> (o: f32[2, 16]) {
                 alloc t: f32[2, 16] local
                 unrolled i in 0..2 {
                   t[i, ramp(0, 1, 16)] = x[i, ramp(0, 1, 16)]
                 }
                 unrolled i in 0..2 {
                   o[i, ramp(0, 1, 16)] = t[1 - i, ramp(0, 1, 16)]
                 }
               })ir"},
        Sample{"local_that_is_also_read_by_element",
               R"ir(func f(x: f32[16]) -> (o: f32[16]) {
                 alloc t: f32[16] local
                 t[ramp(0, 1, 16)] = x[ramp(0, 1, 16)]
                 for i in 0..16 {
                   o[i] = t[15 - i]
                 }
               })ir"}),
    [](const auto& info) { return info.param.name; });

TEST(IrNarrow, LoopsTakeTheLanesThatFitTheirWidestElements) {
  const char* loops = R"ir(func f(x: f32[N], y: f64[N], z: i8[N]) -> (o: f32[N], p: f64[N], q: i8[N]) {
    vectorized(16, masked) i in 0..N {
      o[i] = x[i]
    }
    vectorized(16) j in 0..N {
      p[j] = y[j] + f64(x[j])
    }
    vectorized(32) k in 0..N {
      q[k] = z[k]
    }
    vectorized(2) l in 0..N {
      o[l] = x[l] * 2.0
    }
  })ir";
  const std::string text = Print(NarrowLoops(Parse(loops), 16));
  for (const char* loop : {"vectorized(4, masked) i in 0..N {\n    o[i] = x[i]\n", "vectorized(2) j in 0..N {\n",
                           "vectorized(16) k in 0..N {\n", "vectorized(2) l in 0..N {\n"})
    EXPECT_NE(text.find(loop), std::string::npos) << loop << " in\n" << text;
}

TEST(IrNarrow, PartialResultsBecomeVariablesOfTheirOwn) {
  const IRModule module = SplitLocals(
      SplitVectors(Lower(Parse("func f(x: f32[N]) -> (o: f32[1]) { o[0] = reduce(+, i in 0..N, any 16, x[i]) }")), 32));
  EXPECT_NE(Print(module).find("alloc partial_0: f32[8] local\n  alloc partial_8: f32[8] local"), std::string::npos)
      << Print(module);
}

}  // namespace
}  // namespace ir_test
