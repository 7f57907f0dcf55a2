// Each pass changes what it says, and no result: the interpreter runs every function before and after it.
#include <kernpack/sdk/ir/pass.h>

#include <gtest/gtest.h>
#include <kernpack/sdk/ir/equal.h>
#include <kernpack/sdk/ir/verify.h>

#include "ir/same.h"

namespace ir_test {
namespace {

constexpr Pass kExactPasses[] = {{"bind_extents", BindExtents},
                                 {"unroll", Unroll},
                                 {"lower_reductions", LowerReductions},
                                 {"vectorize", Vectorize},
                                 {"simplify", Simplify}};

struct PassSample {
  const char* name;
  const char* text;
};
void PrintTo(const PassSample& sample, std::ostream* out) { *out << sample.name; }

class IrPasses : public testing::TestWithParam<PassSample> {};

TEST_P(IrPasses, KeepEveryResult) {
  const IRModule module = Parse(GetParam().text);
  Verify(module);
  for (const int64_t n : {0, 1, 7, 8, 19}) {
    const Dims dims{{"N", n}, {"M", 3}};
    for (const Pass& pass : kExactPasses) ExpectSame(module, pass.run(module), dims, pass.name);
    IRModule all = module;
    for (const Pass& pass : kExactPasses) {
      all = pass.run(all);
      ExpectSame(module, all, dims, std::string("passes up to ") + pass.name);
      EXPECT_TRUE(Equal(Parse(Print(all)), all)) << Print(all);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Samples, IrPasses,
    testing::Values(
        PassSample{"peeled",
                   "func f(x: f32[N]) -> (o: f32[N]) { vectorized(8) i in 0..N { o[i] = x[i] * 2.0 + 1.0 } }"},
        PassSample{"masked",
                   "func f(x: f32[N]) -> (o: f32[N]) { vectorized(8, masked) i in 0..N { o[i] = x[i] / x[0] } }"},
        PassSample{"i32_counter",
                   "func f(x: i32[N]) -> (o: i32[N]) { vectorized(4, masked) i in 0i32..i32(N) { o[i] = x[i] / i } }"},
        PassSample{"from_the_middle",
                   "func f(x: i16[N]) -> (o: i16[N]) { vectorized(4) i in 3..N - 2 { o[i] = x[i + 2] % i16(i) } }"},
        PassSample{"strided",
                   R"ir(func f(x: f64[N, M]) -> (o: f64[N]) {
                     vectorized(4, masked) i in 0..N {
                       let j = i * 1 + 0
                       o[j] = x[j, 2] - x[i, 0]
                     }
                   })ir"},
        PassSample{"gathered",
                   R"ir(func f(x: f32[N], at: u8[N]) -> (o: f32[N]) {
                     vectorized(8, masked) i in 0..N {
                       o[i] = x[i64(at[i]) % N]
                     }
                   })ir"},
        PassSample{"branches",
                   R"ir(func f(x: i32[N], y!: i32[N]) -> (o: i32[N]) {
                     vectorized(8, masked) i in 0..N {
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
        PassSample{"load_if_inside",
                   R"ir(func f(x: f16[N]) -> (o: f32[N]) {
                     vectorized(4, masked) i in 0..N {
                       o[i] = f32(load_if(x[i + 1], i + 1 < N, f16(7.0))) where i % 3 != 0
                     }
                   })ir"},
        PassSample{"rank_0",
                   R"ir(func f(x: f32[N], k: f32[]) -> (o: f32[N]) {
                     vectorized(4, masked) i in 0..N {
                       if x[i] < 0.0 {
                         o[i] = k[] + x[i]
                       }
                     }
                   })ir"},
        PassSample{"bools",
                   R"ir(func f(x: bool[N], y: i64[N]) -> (o: bool[N]) {
                     vectorized(8) i in 0..N {
                       o[i] = ~x[i] ^ y[i] > 2
                     }
                   })ir"},
        PassSample{"inner_loop_stays_scalar",
                   R"ir(func f(x: f32[N, M]) -> (o: f32[N]) {
                     vectorized(8) i in 0..N {
                       alloc t: f32[1] local
                       t[0] = 0.0
                       for j in 0..M {
                         t[0] = t[0] + x[i, j]
                       }
                       o[i] = t[0]
                     }
                   })ir"},
        PassSample{"sum_any", "func f(x: f32[N]) -> (o: f32[1]) { o[0] = reduce(+, i in 0..N, any 8, x[i] * x[i]) }"},
        PassSample{"sum_any_of_many", "func f(x: f32[N]) -> (o: f32[1]) { o[0] = reduce(+, i in 0..N, any 32, x[i]) }"},
        PassSample{"max_any_of_many",
                   "func f(x: i16[N]) -> (o: i16[1]) { o[0] = reduce(max, i in 1i32..i32(N), any 64, x[i]) }"},
        PassSample{"sum_sequential",
                   "func f(x: f32[N]) -> (o: f32[1]) { o[0] = reduce(+, i in 0..N, sequential, x[i] + 0.25) }"},
        PassSample{"max_of_row",
                   R"ir(func f(x: f32[N, M]) -> (o: f32[N]) {
                     for i in 0..N {
                       o[i] = reduce(max, j in 1..M, any 2, x[i, j])
                     }
                   })ir"},
        PassSample{"product_of_i8",
                   "func f(x: i8[N]) -> (o: i8[1]) { o[0] = reduce(*, i in 0i32..i32(N), any 4, x[i] | 1i8) }"},
        PassSample{"all_and_any",
                   R"ir(func f(x: i32[N]) -> (o: bool[2]) {
                     o[0] = reduce(&, i in 0..N, any 8, x[i] > -7i32)
                     o[1] = reduce(|, i in 0..N, sequential, x[i] > 7i32)
                   })ir"},
        PassSample{"reduction_in_a_reduction",
                   R"ir(func f(x: f64[N, M]) -> (o: f64[1]) {
                     o[0] = reduce(minimum, i in 0..N, any 4, reduce(+, j in 0..M, sequential, x[i, j]))
                   })ir"},
        PassSample{"reductions_in_conditions_and_bounds",
                   R"ir(func f(x: u8[N]) -> (o: i64[N]) {
                     if reduce(+, i in 0..N, any 4, i64(x[i])) > 99 {
                       for j in 0..N - reduce(min, k in 0..N + 1, any 2, k) {
                         o[j] = j
                       }
                     }
                   })ir"},
        PassSample{"reduction_in_an_extent",
                   R"ir(func f(x: i64[N]) -> (o: i64[N]) {
                     alloc t: i64[reduce(max, i in 0..N + 1, any 2, i), N + 1] local
                     for i in 0..N {
                       t[i, i] = x[i]
                     }
                     for i in 0..N {
                       o[i] = reduce(+, k in i..i + 1, any 2, t[k, i])
                     }
                   })ir"},
        PassSample{"extent_that_changes_later",
                   R"ir(func f(x!: i64[1], y: i64[N]) -> (o: i64[N]) {
                     x[0] = 4
                     alloc t: i64[2, x[0]] local
                     x[0] = 1
                     t[0, 3] = 5
                     t[1, 0] = 6
                     for i in 0..N {
                       o[i] = t[0, 3]
                     }
                   })ir"},
        PassSample{"unrolled",
                   R"ir(func f(x: f32[N, M]) -> (o: f32[N, M]) {
                     for i in 0..N {
                       unrolled j in 0..3 {
                         let v = x[i, j]
                         if v > 1.0 {
                           o[i, j] = v
                         } else {
                           o[i, j] = f32(j)
                         }
                       }
                     }
                   })ir"},
        PassSample{"unrolled_twice",
                   R"ir(func f(x: i32[N]) -> (o: i32[N, 6]) {
                     for n in 0..N {
                       unrolled i in 0..2 {
                         unrolled j in i..3 {
                           o[n, i * 3 + j] = x[n] << i32(j)
                         }
                       }
                     }
                   })ir"},
        PassSample{"unrolled_without_end", "func f(x: i32[N]) -> (o: i32[N]) { unrolled i in 0..N { o[i] = -x[i] } }"},
        PassSample{"constants",
                   R"ir(func f(x: i32[N]) -> (o: i32[N]) {
                     for i in 0..N + 0 {
                       let dead = x[i] * 3i32
                       if 1 < 2 {
                         o[i] = x[i] * (7i32 / 0i32 + 1i32) << 32i32
                       } else {
                         o[i] = 0i32
                       }
                     }
                     for i in 4..2 {
                       o[0] = 1i32
                     }
                   })ir"},
        PassSample{"zeros_keep_their_sign",
                   R"ir(func f(x: f32[N]) -> (o: f32[N]) {
                     for i in 0..N {
                       o[i] = (x[i] + 0.0) * 1.0 / 1.0 - (-0.0 + 0.0)
                     }
                   })ir"}),
    [](const auto& info) { return info.param.name; });

std::string After(IRModule (*pass)(const IRModule&), const std::string& text) {
  const std::string printed = Print(pass(Parse(text)));
  return printed.substr(printed.find('{'));
}

TEST(IrPass, SimplifyFoldsByTheTableAndDropsWhatHasNoEffect) {
  const char* text = R"ir(func f(o!: i32[4], k: i32) -> () {
    let a = 7i32 / 0i32
    let b = k + a
    let d = b * 9i32
    o[0] = b << 32i32
    if 2.0 < 1.0 {
      o[1] = k
    }
    for i in 3..3 {
      o[2] = k
    }
  })ir";
  EXPECT_EQ(After(Simplify, text), "{\n  o[0] = k << 32i32\n}\n");
  EXPECT_EQ(After(Simplify, "func f(o!: f32[4], k: f32) -> () { o[0] = exp(0.0) o[1] = k + 0.0 }"),
            "{\n  o[0] = exp(0.0)\n  o[1] = k + 0.0\n}\n")
      << "math is what its expansion says, and -0.0 + 0.0 is not -0.0";
}

TEST(IrPass, UnrollWritesIterationsOutUpToALimit) {
  const std::string text = After(Unroll, "func f(o!: i64[4]) -> () { unrolled i in 1..3 { o[i] = i } }");
  EXPECT_EQ(text, "{\n  o[1] = 1\n  o[2] = 2\n}\n");
  const std::string large =
      After(Unroll, "func f(o!: i64[4]) -> () { unrolled i in 0..200 { unrolled j in 0..200 { o[0] = i } } }");
  EXPECT_EQ(large.substr(0, large.find("o[0]")), "{\n  for i in 0..200 {\n    ");
}

TEST(IrPass, VectorizeReadsConsecutiveElementsAsOneVector) {
  const char* loops = R"ir(func f(x: f32[N, 8]) -> (o: f32[N, 8]) {
    for i in 0..N {
      vectorized(8) j in 0..8 {
        let k = j
        o[i, k] = x[i, k] * x[i, 0]
      }
    }
  })ir";
  const std::string text = After(Vectorize, loops);
  EXPECT_NE(text.find("x[i, ramp("), std::string::npos) << text;
  EXPECT_NE(text.find(", 1, 8)] * broadcast(x[i, 0], 8)"), std::string::npos) << text;
}

TEST(IrPass, WideReductionsTakeTheirTailInByPartsOfSixteen) {
  const auto lowered = [](const char* lanes) {
    return After(LowerReductions, std::string("func f(x: f32[N]) -> (o: f32[1]) { o[0] = reduce(+, i in 0..N, any ") +
                                      lanes + ", x[i]) }");
  };
  EXPECT_NE(lowered("64").find("for i_part in 0.."), std::string::npos) << lowered("64");
  EXPECT_EQ(lowered("64").find("boolx64"), std::string::npos) << lowered("64");
  EXPECT_EQ(lowered("16").find("i_part"), std::string::npos) << lowered("16");
}

TEST(IrPass, LoweringLeavesNoReductionAndNoMarkedLoop) {
  const char* text =
      R"ir(func f(x: f32[N, D]) -> (o: f32[N, D]) {
        parallel i in 0..N {
          let s = reduce(+, j in 0..D, any 8, x[i, j])
          vectorized(8) j in 0..D {
            o[i, j] = x[i, j] / s
          }
          unrolled j in 0..2 {
            evaluate s
          }
        }
      })ir";
  std::vector<std::string> seen;
  const IRModule lowered = Lower(Parse(text), [&seen](const Pass& pass, const IRModule& after) {
    seen.push_back(pass.name + (": " + Print(after)));
  });
  ASSERT_EQ(seen.size(), LoweringPasses().size());
  EXPECT_EQ(seen.back(), LoweringPasses().back().name + (": " + Print(lowered)));
  for (const char* word : {"reduce(", "vectorized", "unrolled"})
    EXPECT_EQ(Print(lowered).find(word), std::string::npos) << word;
  EXPECT_NE(Print(lowered).find("parallel i"), std::string::npos);
}

TEST(IrPass, LowerVerifiesFirst) {
  EXPECT_EQ(
      CatchMessage([] { Lower(Parse("func f(x: f32[N]) -> () { for i in 0..N { x[i] = 0.0 } }")); }).substr(0, 11),
      "ValueError:");
}

}  // namespace
}  // namespace ir_test
