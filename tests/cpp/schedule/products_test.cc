// Which functions are products of matrices: those run in tiles of registers, with what is computed of each sum in the
// tile's last store. Results stay what they are.
#include <kernpack/sdk/schedule/default.h>

#include <functional>
#include <limits>
#include <string_view>

#include "schedule/support.h"

namespace schedule_test {
namespace {

using kernpack::sdk::Target;

struct Product {
  const char* name;
  const char* text;
  std::vector<std::vector<int64_t>> sizes;
  bool is_product = true;
};

// Sums of an f32 product with what is before, around and after them.
std::string Nest(const std::string& more, const std::string& before, const std::string& value,
                 const std::string& type = "f32") {
  return "func f(a: f32[M, K], b: f32[K, N]" + more + ") -> (o: " + type + "[M, N]) { " + before +
         "for i in 0..M { for j in 0..N { " + value + " } } }";
}
// In the order `any n`: classes of other sizes, of one element, of none.
std::string InOrderAny(int n, const std::string& rest = "") {
  return "o[i, j] = reduce(+, k in 0..K, any " + std::to_string(n) + ", a[i, k] * b[k, j])" + rest;
}
#define SUM "reduce(+, k in 0..K, sequential, a[i, k] * b[k, j])"

const std::vector<std::vector<int64_t>> kProductSizes{{13, 3, 33}, {3, 4, 5}, {4, 0, 3}};
const std::vector<std::vector<int64_t>> kSums{{13, 37, 33}, {3, 16, 5}, {5, 3, 2}, {4, 0, 3}};
const std::vector<std::vector<int64_t>> kBatches{{2, 13, 2, 20}, {3, 4, 2, 5}, {0, 3, 2, 4}};

// Texts are kept: tests refer to them.
const char* Kept(const std::string& text) {
  static std::vector<std::unique_ptr<std::string>> all;
  return all.emplace_back(std::make_unique<std::string>(text))->c_str();
}

const std::vector<Product>& Products() {
  static const std::vector<Product> all{
      {"Plain", Kept(Nest("", "", "o[i, j] = " SUM)), kProductSizes},
      {"Bias", Kept(Nest(", c: f32[N]", "", "o[i, j] = " SUM " + c[j]")), kProductSizes},
      {"BiasOfRows", Kept(Nest(", c: f32[M]", "", "o[i, j] = c[i] + " SUM)), kProductSizes},
      {"Factor", Kept(Nest("", "", "o[i, j] = " SUM " * 0.5")), kProductSizes},
      {"FactorThatIsAnArgument", Kept(Nest(", c: f32", "", "o[i, j] = " SUM " * c")), {}},
      {"FactorOfTheFunction", Kept(Nest("", "let c = 1.0 / sqrt(f32(K)) ", "o[i, j] = " SUM " * c")), kProductSizes},
      {"Rectified", Kept(Nest("", "", "o[i, j] = max(" SUM ", 0.0)")), kProductSizes},
      {"Silu", Kept(Nest("", "", "let v = " SUM " o[i, j] = v / (1.0 + exp(-v))")), kProductSizes},
      {"SeveralLets",
       Kept(Nest(", c: f32[N], d: f32[M, N]", "", "let v = " SUM " + c[j] let w = v * d[i, j] o[i, j] = w + w * v")),
       kProductSizes},
      {"Narrowed", Kept(Nest("", "", "o[i, j] = bf16(" SUM ")", "bf16")), kProductSizes},
      {"ToIntegers", Kept(Nest("", "", "o[i, j] = i8(" SUM ")", "i8")), kProductSizes},
      {"Residual", Kept(Nest(", x: f32[M, N]", "", "o[i, j] = x[i, j] + " SUM)), kProductSizes},
      {"OfItsOwnOperand",
       R"ir(func f(a: f32[M, K], b: f32[K, K]) -> (o: f32[M, K]) {
         for i in 0..M {
           for j in 0..K {
             o[i, j] = a[i, j] + reduce(+, k in 0..K, sequential, a[i, k] * b[k, j])
           }
         }
       })ir",
       {{13, 7}, {5, 65}, {2, 0}}},
      {"Accumulated",
       R"ir(func f(a: f32[M, K], b: f32[K, N], o!: f32[M, N]) -> (p: f32[M, N]) {
         for i in 0..M {
           for j in 0..N {
             o[i, j] = o[i, j] + reduce(+, k in 0..K, sequential, a[i, k] * b[k, j])
           }
         }
         for i in 0..M {
           for j in 0..N {
             p[i, j] = o[i, j]
           }
         }
       })ir",
       kProductSizes},
      {"TransposedWithBias",
       R"ir(func f(a: f32[M, K], b: f32[N, K], c: f32[N]) -> (o: f32[M, N]) {
         for i in 0..M {
           for j in 0..N {
             o[i, j] = reduce(+, k in 0..K, sequential, a[i, k] * b[j, k]) + c[j]
           }
         }
       })ir",
       kProductSizes},
      {"Batch",
       R"ir(func f(a: f32[B, M, K], b: f32[B, K, N]) -> (o: f32[B, M, N]) {
         for q in 0..B {
           for i in 0..M {
             for j in 0..N {
               o[q, i, j] = reduce(+, k in 0..K, sequential, a[q, i, k] * b[q, k, j])
             }
           }
         }
       })ir",
       kBatches},
      {"BatchWithBias",
       R"ir(func f(a: f32[B, M, K], b: f32[B, K, N], c: f32[B, N]) -> (o: f32[B, M, N]) {
         for q in 0..B {
           for i in 0..M {
             for j in 0..N {
               o[q, i, j] = max(reduce(+, k in 0..K, sequential, a[q, i, k] * b[q, k, j]) + c[q, j], 0.0)
             }
           }
         }
       })ir",
       kBatches},
      {"BatchOfTransposed",
       R"ir(func f(a: f32[B, M, K], b: f32[B, N, K]) -> (o: f32[B, M, N]) {
         for q in 0..B {
           for i in 0..M {
             for j in 0..N {
               o[q, i, j] = reduce(+, k in 0..K, sequential, a[q, i, k] * b[q, j, k])
             }
           }
         }
       })ir",
       {{2, 13, 2, 20}, {1, 4, 2, 5}}},
      {"BatchOfOneWeight",
       R"ir(func f(a: f32[B, M, K], b: f32[K, N]) -> (o: f32[B, M, N]) {
         for q in 0..B {
           for i in 0..M {
             for j in 0..N {
               o[q, i, j] = reduce(+, k in 0..K, sequential, a[q, i, k] * b[k, j])
             }
           }
         }
       })ir",
       kBatches},
      {"Heads",
       R"ir(func f(a: f32[B, H, M, K], b: f32[B, H, K, N]) -> (o: f32[B, H, M, N]) {
         for q in 0..B {
           for h in 0..H {
             for i in 0..M {
               for j in 0..N {
                 o[q, h, i, j] = reduce(+, k in 0..K, sequential, a[q, h, i, k] * b[q, h, k, j])
               }
             }
           }
         }
       })ir",
       {{2, 3, 5, 2, 9}, {1, 2, 13, 1, 3}, {2, 0, 3, 2, 4}}},
      {"OfDoubles",
       R"ir(func f(a: f64[M, K], b: f64[K, N], c: f64[N]) -> (o: f64[M, N]) {
         for i in 0..M {
           for j in 0..N {
             o[i, j] = reduce(+, k in 0..K, sequential, a[i, k] * b[k, j]) + c[j]
           }
         }
       })ir",
       kProductSizes},
      {"OfBrainFloats",
       R"ir(func f(a: bf16[M, K], b: bf16[K, N]) -> (o: bf16[M, N]) {
         for i in 0..M {
           for j in 0..N {
             o[i, j] = bf16(reduce(+, k in 0..K, sequential, f32(a[i, k]) * f32(b[k, j])))
           }
         }
       })ir",
       kProductSizes},
      {"OfBytes",
       R"ir(func f(a: i8[M, K], b: i8[K, N], c: f32[N]) -> (o: f32[M, N]) {
         for i in 0..M {
           for j in 0..N {
             o[i, j] = f32(reduce(+, k in 0..K, sequential, i32(a[i, k]) * i32(b[k, j]))) * c[j]
           }
         }
       })ir",
       kProductSizes},
      {"OfOneRowWithBias",
       R"ir(func f(a: f32[K], b: f32[K, N], c: f32[N]) -> (o: f32[N]) {
         for j in 0..N {
           o[j] = reduce(+, k in 0..K, sequential, a[k] * b[k, j]) + c[j]
         }
       })ir",
       {{5, 300}, {3, 0}, {5, 17}}},
      {"AnyOrder", Kept(Nest("", "", InOrderAny(16))), kSums},
      {"AnyOrderOfTwo", Kept(Nest("", "", InOrderAny(2))), kSums},
      {"AnyOrderOfFour", Kept(Nest("", "", InOrderAny(4))), kSums},
      {"AnyOrderOfManyWithBias", Kept(Nest(", c: f32[N]", "", InOrderAny(64, " + c[j]"))), kSums},
      {"AnyOrderWithSilu", Kept(Nest("", "", "let v" + InOrderAny(8).substr(7) + " o[i, j] = v / (1.0 + exp(-v))")),
       kSums},
      {"AnyOrderOfConstants",
       R"ir(func f(a: f32[M, 32], b: f32[32, 40]) -> (o: f32[M, 40]) {
         for i in 0..M {
           for j in 0..40 {
             o[i, j] = reduce(+, k in 0..32, any 16, a[i, k] * b[k, j])
           }
         }
       })ir",
       {{13}, {2}, {0}}},
      {"AnyOrderOfFewRows",
       R"ir(func f(a: f32[2, K], b: f32[K, N]) -> (o: f32[2, N]) {
         for i in 0..2 {
           for j in 0..N {
             o[i, j] = reduce(+, k in 0..K, any 16, a[i, k] * b[k, j])
           }
         }
       })ir",
       {{37, 33}, {3, 300}, {0, 5}}},
      {"AnyOrderOfOneRow",
       R"ir(func f(a: f32[K], b: f32[K, N], c: f32[N]) -> (o: f32[N]) {
         for j in 0..N {
           o[j] = reduce(+, k in 0..K, any 8, a[k] * b[k, j]) + c[j]
         }
       })ir",
       {{21, 300}, {3, 0}, {5, 17}}},
      {"AnyOrderOfTransposed",
       R"ir(func f(a: f32[M, K], b: f32[N, K]) -> (o: f32[M, N]) {
         for i in 0..M {
           for j in 0..N {
             o[i, j] = reduce(+, k in 0..K, any 16, a[i, k] * b[j, k])
           }
         }
       })ir",
       kSums},
      {"AnyOrderOfBothTransposed",
       R"ir(func f(a: f32[K, M], b: f32[N, K]) -> (o: f32[M, N]) {
         for i in 0..M {
           for j in 0..N {
             o[i, j] = reduce(+, k in 0..K, any 16, b[j, k] * a[k, i])
           }
         }
       })ir",
       {{37, 13, 33}, {0, 4, 3}}},
      {"AnyOrderOfABatch",
       R"ir(func f(a: f32[B, H, M, K], b: f32[B, H, K, N]) -> (o: f32[B, H, M, N]) {
         for q in 0..B {
           for h in 0..H {
             for i in 0..M {
               for j in 0..N {
                 o[q, h, i, j] = reduce(+, k in 0..K, any 4, a[q, h, i, k] * b[q, h, k, j])
               }
             }
           }
         }
       })ir",
       {{2, 3, 5, 7, 9}, {1, 2, 13, 1, 3}, {2, 0, 3, 2, 4}}},
      {"AnyOrderOfBrainFloats",
       R"ir(func f(a: bf16[M, K], b: bf16[K, N]) -> (o: bf16[M, N]) {
         for i in 0..M {
           for j in 0..N {
             o[i, j] = bf16(reduce(+, k in 0..K, any 16, f32(a[i, k]) * f32(b[k, j])))
           }
         }
       })ir",
       kSums},
      {"AnyOrderOfBytesAsFloats",
       R"ir(func f(a: i8[M, K], b: i8[K, N]) -> (o: f32[M, N]) {
         for i in 0..M {
           for j in 0..N {
             o[i, j] = reduce(+, k in 0..K, any 16, f32(a[i, k]) * f32(b[k, j]))
           }
         }
       })ir",
       kSums},
      {"AnyOrderOfDoubles",
       R"ir(func f(a: f64[M, K], b: f64[K, N]) -> (o: f64[M, N]) {
         for i in 0..M {
           for j in 0..N {
             o[i, j] = reduce(+, k in 0..K, any 32, a[i, k] * b[k, j])
           }
         }
       })ir",
       kSums},
      {"AnyOrderOfDiagonals",
       R"ir(func f(a: f32[K, K], b: f32[K, N]) -> (o: f32[K, N]) {
         for i in 0..K {
           for j in 0..N {
             o[i, j] = reduce(+, k in 0..K, any 16, a[k, k] * b[k, j])
           }
         }
       })ir",
       {{5, 33}, {0, 3}},
       false},
      {"TwoSums", Kept(Nest("", "", "o[i, j] = " SUM " + reduce(+, k in 0..K, sequential, b[k, j])")), kProductSizes,
       false},
      {"MaximumOfProducts", Kept(Nest("", "", "o[i, j] = reduce(max, k in 0..K, any 16, a[i, k] * b[k, j])")),
       kProductSizes, false},
      {"SumOfDifferences", Kept(Nest("", "", "o[i, j] = reduce(+, k in 0..K, sequential, a[i, k] - b[k, j])")),
       kProductSizes, false},
      {"SumToTheRow",
       Kept(Nest("", "", "o[i, j] = reduce(+, k in 0..i, sequential, a[i, k] * b[k, j]) * 2.0")),
       {{3, 5, 9}},
       false},
  };
  return all;
}

void PrintTo(const Product& p, std::ostream* out) { *out << p.name; }

class ScheduleProducts : public testing::TestWithParam<Product> {};

TEST_P(ScheduleProducts, AreRecognised) {
  const IRModule plain = Parse(GetParam().text);
  for (const char* target : {"llvm -mcpu=x86-64-v2", "llvm -mcpu=x86-64-v3", "c -mcpu=x86-64-v4", "opencl"}) {
    const std::string text = Print(ScheduleByDefault(plain, Target(target)));
    const bool found = text.find("a_pack:") != std::string::npos || text.find("o_local:") != std::string::npos;
    EXPECT_EQ(found, GetParam().is_product) << target << "\n" << text;
  }
}

TEST_P(ScheduleProducts, KeepResultsForEveryTarget) {
  const IRModule plain = Parse(GetParam().text);
  std::vector<std::vector<int64_t>> sizes = GetParam().sizes;
  std::vector<const char*> targets{"llvm -mcpu=x86-64-v2", "c -mcpu=x86-64-v4", "cuda -arch=sm_90"};
#if defined(__SANITIZE_ADDRESS__)
  // The plain build tries all sizes for every target; here each product has one of each, always the same one.
  if (sizes.size() > 1) sizes.resize(1);
  targets = {targets[std::hash<std::string_view>()(GetParam().name) % targets.size()]};
#endif
  for (const char* target : targets) {
    const IRModule scheduled = ScheduleByDefault(plain, Target(target));
    for (const std::vector<int64_t>& dims : sizes)
      ASSERT_EQ(GetResults(plain.functions[0], dims), GetResults(scheduled.functions[0], dims))
          << target << Print(scheduled);
  }
}

// Values past the end of a class are multiplied, too: not by infinities, and their zeros keep signs.
TEST(ScheduleProductsOfAnyOrder, KeepsInfinitiesAndSignsOfZeros) {
  const IRModule plain = Parse(Nest("", "", InOrderAny(4)));
  const IRModule scheduled = ScheduleByDefault(plain, Target("llvm -mcpu=x86-64-v3"));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float left : {-0.0f, 1.0f, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    for (const float right : {-0.0f, 0.0f, -1.0f, kInfinity}) {
      std::vector<std::vector<std::byte>> results;
      for (const IRModule* m : {&plain, &scheduled}) {
        Array a(kF32, {5, 6}), b(kF32, {6, 3}), o(kF32, {5, 3});
        std::fill_n(a.as<float>(), 30, left);
        std::fill_n(b.as<float>(), 18, right);
        const std::vector<KpAny> args{a.Value(), b.Value(), o.Value()};
        Interpret(*m, "f", args);
        results.push_back(o.bytes);
      }
      EXPECT_EQ(results[0], results[1]) << left << " times " << right;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ScheduleProducts, testing::ValuesIn(Products()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace schedule_test
