// The generator of kind llvm, in process: the semantics table, statements, services, refusals.
#include <gtest/gtest.h>

#include "ir/arguments.h"
#include "ir/common_samples.h"
#include "ir/compiled.h"
#include "ir/semantics.h"

namespace ir_test {
namespace {

Compiled BuildLlvm(const std::string& text, const char* target = "llvm") { return Compiled(Parse(text), target); }

class LlvmSemantics : public testing::TestWithParam<Row> {
 protected:
  static void Check(const Compiled& module, int64_t n) {
    const Row& row = GetParam();
    RowCase c(row, n);
    ASSERT_EQ(module.Call(FunctionOf(row), c.Args()), "");
    EXPECT_TRUE(c.Ok()) << row.expr << " of " << row.a << " and " << row.b << ": expected " << row.want;
  }
};

TEST_P(LlvmSemantics, OnThisProcessor) {
  static const Compiled module = BuildLlvm(SemanticsModule());
  Check(module, 0);
}

TEST_P(LlvmSemantics, InVectors) {
  static const Compiled module = BuildLlvm(VectorSemanticsModule());
  Check(module, 19);
}

// It converts no f16 and has no masked or fused operations: other code for the same rows.
TEST_P(LlvmSemantics, InVectorsOnTheOldestProcessor) {
  static const Compiled module = BuildLlvm(VectorSemanticsModule(), "llvm -mcpu=x86-64-v2");
  Check(module, 19);
}

INSTANTIATE_TEST_SUITE_P(Table, LlvmSemantics, testing::ValuesIn(kRows),
                         [](const auto& info) { return info.param.name; });

// Runs function 0 of a text on arguments made from a seed, and compares all memory with the interpreter's.
void ExpectAsInterpreted(const std::string& text, const Dims& dims) {
  const IRModule ir = Parse(text);
  const FuncNode& f = *ir.functions[0];
  Arguments want(f, dims, 1), got(f, dims, 1);
  Interpret(ir, f.name, want.Any());
  ASSERT_EQ(BuildLlvm(text).Call(f.name, got.Any()), "") << text;
  for (size_t i = 0; i < want.arrays().size(); ++i) {
    EXPECT_EQ(want.arrays()[i].bytes, got.arrays()[i].bytes) << "tensor " << i << " of " << text;
  }
}

TEST(LlvmJit, LoopsThatAreLeft) {
  const std::string text =
      "module \"left\" private func scale(x: f32[M], k: f32) -> (y: f32[M]) { for i in 0..M { y[i] = x[i] * k } }\n" +
      std::string(kCommonSamples);
  const IRModule ir = Parse(text);
  const Compiled compiled = BuildLlvm(text);
  for (const char* name : {"first_negative", "rounds", "conditions_that_need_statements", "places"}) {
    for (const int64_t n : {0, 1, 5, 37}) {
      const Dims dims{{"N", n}, {"D", n + 3}};
      Arguments want(*ir.Find(name), dims, 2), got(*ir.Find(name), dims, 2);
      Interpret(ir, name, want.Any());
      ASSERT_EQ(compiled.Call(name, got.Any()), "") << name;
      for (size_t i = 0; i < want.arrays().size(); ++i)
        EXPECT_EQ(want.arrays()[i].bytes, got.arrays()[i].bytes) << name << ", tensor " << i << ", N = " << n;
    }
  }
}

TEST(LlvmJit, LoopsOfEveryKind) {
  for (const int64_t n : {0, 1, 7, 8, 19}) {
    ExpectAsInterpreted(
        R"ir(func f(x: i32[N, 5], y: i32[N]) -> (o: i32[5, N]) {
          parallel i in 0..N {
            for j in 0..5 {
              o[j, i] = x[i, j] * 3i32 + y[i]
            }
          }
        })ir",
        {{"N", n}});
    ExpectAsInterpreted("func f(x: i64[N]) -> (o: i64[N]) { vectorized(8) i in 0..N { o[i] = x[i] * 3 } }", {{"N", n}});
    ExpectAsInterpreted("func f(x: i16[N]) -> (o: i16[N]) { vectorized(8, masked) i in 0..N { o[i] = x[i] + x[i] } }",
                        {{"N", n}});
    ExpectAsInterpreted("func f(x: bool[N]) -> (o: bool[N]) { vectorized(16, masked) i in 0..N { o[i] = ~x[i] } }",
                        {{"N", n}});
  }
}

TEST(LlvmJit, LanesGatherAndScatter) {
  ExpectAsInterpreted(
      R"ir(func f(x: f32[32]) -> (o: f32[32]) {
        let i = ramp(0, 3, 8)
        o[ramp(0, 1, 32)] = broadcast(0.0, 32)
        o[ramp(31, -1, 8)] = x[i]
        o[i] = load_if(x[i], i < broadcast(9, 8), broadcast(2.0, 8)) where i > broadcast(5, 8)
      })ir",
      {});
}

TEST(LlvmJit, CallsBranchesAndBuffers) {
  ExpectAsInterpreted(R"(
    func f(x: i64[N]) -> (o: i64[N]) {
      alloc small: i64[4] local
      alloc large: i64[N] workspace
      for i in 0..4 { small[i] = i * i }
      call twice(x, large)
      parallel i in 0..N {
        if x[i] > 0 { o[i] = large[i] + small[i % 4 * (i % 4) % 4] } else { o[i] = large[i] }
      }
    }
    private func twice(x: i64[M]) -> (y: i64[M]) { for i in 0..M { y[i] = x[i] + x[i] } })",
                      {{"N", 37}});
}

TEST(LlvmJit, CallsInParallelLoops) {
  ExpectAsInterpreted(R"(
    func f(x: i64[N]) -> (o: i64[N]) {
      parallel i in 0..N {
        alloc from: i64[4] local
        alloc to: i64[4] local
        for j in 0..4 { from[j] = x[i] + j }
        call twice(from, to, i)
        o[i] = to[i % 4]
      }
    }
    private func twice(x: i64[M], k: i64) -> (y: i64[M]) {
      alloc t: i64[M] workspace
      parallel i in 0..M { t[i] = x[i] + x[i] }
      parallel i in 0..M { y[i] = t[M - 1 - i] + k }
    })",
                      {{"N", 37}});
}

TEST(LlvmJit, StorageTypesAreCopiedAndCast) {
  for (const char* const type : {"f16", "bf16", "f8_e4m3fn", "f8_e5m2"}) {
    const std::string t = type;
    for (const char* const target : {"llvm", "llvm -mcpu=x86-64-v2"}) {
      const std::string text = "func widen(x: " + t + "[N]) -> (o: f32[N]) { for i in 0..N { o[i] = f32(x[i]) } } " +
                               "func narrow(x: f32[N]) -> (o: " + t + "[N]) { vectorized(8) i in 0..N { o[i] = " + t +
                               "(x[i]) } }";
      const Compiled module = BuildLlvm(text, target);
      const IRModule ir = Parse(text);
      Type element;
      ASSERT_TRUE(TypeFromName(t, &element));
      const int64_t codes = int64_t{1} << element.bits;
      Array every(element, {codes}), want(kF32, {codes}), got(kF32, {codes});
      for (int64_t i = 0; i < codes; ++i)
        std::memcpy(every.bytes.data() + i * element.itemsize(), &i, element.itemsize());
      Interpret(ir, "widen", {every.Value(), want.Value()});
      ASSERT_EQ(module.Call("widen", {every.Value(), got.Value()}), "");
      for (int64_t i = 0; i < codes; ++i) {
        const float w = want.as<float>()[i], g = got.as<float>()[i];
        ASSERT_TRUE(std::memcmp(&w, &g, 4) == 0 || (w != w && g != g)) << target << ' ' << t << " code " << i;
      }
      // Every exponent, and mantissas about each place where rounding turns.
      std::vector<uint32_t> bits;
      for (uint32_t high = 0; high < 1u << 13; ++high) {
        for (const uint32_t low : {0u, 1u, 0x3ffffu, 0x40000u, 0x40001u}) bits.push_back(high << 19 | low);
      }
      const auto n = static_cast<int64_t>(bits.size());
      Array floats = Array::Of<uint32_t>(kF32, {n}, bits), expected(element, {n}), made(element, {n});
      Interpret(ir, "narrow", {floats.Value(), expected.Value()});
      ASSERT_EQ(module.Call("narrow", {floats.Value(), made.Value()}), "");
      EXPECT_EQ(expected.bytes, made.bytes) << target << ' ' << t;
    }
  }
}

TEST(LlvmJit, PersistentBuffersKeepTheirContents) {
  const Compiled module = BuildLlvm(R"(module "counting"
    func count() -> (o: i64[1]) {
      alloc seen: i64[1] persistent("seen", zeroed)
      seen[0] = seen[0] + 1
      o[0] = seen[0]
    })");
  Array o(kI64, {1});
  for (int i = 0; i < 3; ++i) ASSERT_EQ(module.Call("count", {o.Value()}), "");
  EXPECT_EQ(o.as<int64_t>()[0], 3);
}

TEST(LlvmJit, ScalarsOfEveryTypeArrive) {
  const Compiled module = BuildLlvm(
      R"ir(func f(a: i8, b: u16, c: bool, d: f32, e: f64, g: u64) -> (o: f64[6]) {
        o[0] = f64(a)
        o[1] = f64(b)
        o[2] = f64(c)
        o[3] = f64(d)
        o[4] = e
        o[5] = f64(g)
      })ir");
  Array o(kF64, {6});
  KpAny yes = Int(1);
  yes.type_index = KP_TYPE_BOOL;
  ASSERT_EQ(module.Call("f", {Int(-5), Int(65535), yes, Float(0.5), Float(1e300), Int(7), o.Value()}), "");
  EXPECT_EQ(std::vector<double>(o.as<double>(), o.as<double>() + 6),
            (std::vector<double>{-5, 65535, 1, 0.5, 1e300, 7}));
  EXPECT_EQ(module.Call("f", {Int(128), Int(1), yes, Float(0.5), Float(1), Int(7), o.Value()}),
            "ValueError: f: a: expected int from -128 to 127, got 128");
}

TEST(LlvmJit, AssertsRaiseAlsoInsideParallelLoops) {
  const Compiled module = BuildLlvm(
      R"ir(func serial(x: i32[N]) -> () {
        assert N > 4, TypeError "too few"
      }
      func threads(x: i32[N]) -> () {
        parallel i in 0..N {
          assert x[i] == 0i32, IndexError "not zero"
        }
      })ir");
  Array x = Array::Of<int32_t>(kI32, {4}, {0, 0, 7, 0});
  EXPECT_EQ(module.Call("serial", {x.Value()}), "TypeError: too few");
  EXPECT_EQ(module.Call("threads", {x.Value()}), "IndexError: not zero");
}

TEST(LlvmJit, CallersAreCheckedAgainstTheSignature) {
  const Compiled module =
      BuildLlvm("func f(x: f32[N], y: f32[N]) -> (o: f32[N]) { for i in 0..N { o[i] = x[i] + y[i] } }");
  Array x(kF32, {4}), y(kF32, {3}), o(kF32, {4});
  const std::string message = module.Call("f", {x.Value(), y.Value(), o.Value()});
  EXPECT_NE(message.find("ValueError: f: y"), std::string::npos) << message;
}

// A signature that says less than the parameters: the code itself refuses what it could not survive.
TEST(LlvmJit, ParametersAreCheckedWhateverTheSignature) {
  const Compiled module = BuildLlvm(
      R"ir(func f(x: f32[N], y: f32[N]) -> (o: f32[N]) signature "(x: f32[A], y: f32[B]) -> (o: f32[A])" {
        for i in 0..N {
          o[i] = x[i] + y[i]
        }
      })ir");
  Array x(kF32, {4}), y(kF32, {3}), o(kF32, {4});
  EXPECT_EQ(module.Call("f", {x.Value(), y.Value(), o.Value()}), "ValueError: f: y: dimension 0: expected 4, got 3");
}

TEST(LlvmJit, GradientsAreDeclared) {
  const Compiled module = BuildLlvm(
      R"ir(func f(x: f32[N]) -> (o: f32[N]) grad "f_backward" {
        for i in 0..N {
          o[i] = x[i] * x[i]
        }
      }
      func f_backward(x: f32[N], d_o: f32[N]) -> (d_x: f32[N]) {
        for i in 0..N {
          d_x[i] = 2.0 * x[i] * d_o[i]
        }
      })ir");
  KpAny pairs = kp_none();
  ASSERT_EQ(kp_module_gradients(module.module(), &pairs), 0) << TakeError();
  KpBytes text{};
  ASSERT_TRUE(kp_any_str(&pairs, &text));
  EXPECT_EQ(std::string(text.data, text.size), "[[\"f\",\"f_backward\"]]");
  kp_any_release(&pairs);
}

// On a processor with wider vectors than the oldest one's, the schedule is another.
TEST(LlvmJit, LoopsAreScheduledForThisProcessor) {
  const IRModule module = Parse("func f(x: f32[N]) -> (o: f32[N]) { for i in 0..N { o[i] = x[i] * 2.0 } }");
  EXPECT_EQ(kernpack::sdk::Source(module, kernpack::sdk::Target("llvm")),
            kernpack::sdk::Source(module, kernpack::sdk::Target::FromDevice({KP_DEVICE_CPU, 0})));
}

std::string Refusal(const std::string& text, const char* target = "llvm") {
  return CatchMessage([&] { BuildLlvm(text, target); });
}

TEST(LlvmJit, RefusesWhatItCannotBuild) {
  const char* const copy = "func f(x: f32[N]) -> (o: f32[N]) { for i in 0..N { o[i] = x[i] } }";
  EXPECT_EQ(Refusal("private func f() -> () { }"), "ValueError: module 'module' has no function that is not private");
  const std::string foreign = Refusal(copy, "llvm -mtriple=hexagon-linux-musl");
  EXPECT_EQ(foreign.find("ValueError: "), 0u) << foreign;
  EXPECT_NE(foreign.find("hexagon"), std::string::npos) << foreign;
  EXPECT_EQ(Refusal("func f(a: f64) -> (o: f64[1]) { o[0] = extern(\"kp_nowhere\", f64, a) }"),
            "NameError: module 'module': extern \"kp_nowhere\": this process has no such function");
  EXPECT_EQ(Refusal("func f(x: f32[N]) -> (o: f32[N]) { launch grid(1) block(1) { o[0] = x[0] } }"),
            "NotImplementedError: f: the kind llvm has no device to launch on; build for opencl or cuda");
}

}  // namespace
}  // namespace ir_test
