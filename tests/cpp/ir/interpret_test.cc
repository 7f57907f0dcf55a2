// The interpreter: the semantics table, statements, launches, and what it refuses.
#include <gtest/gtest.h>

#include "ir/semantics.h"

namespace ir_test {
namespace {

class IrSemantics : public testing::TestWithParam<Row> {};

TEST_P(IrSemantics, TheInterpreterFollowsTheTable) {
  static const IRModule module = Parse(SemanticsModule());
  RowCase c(GetParam());
  Interpret(module, FunctionOf(GetParam()), c.Args());
  EXPECT_TRUE(c.Ok()) << GetParam().expr << " of " << GetParam().a << " and " << GetParam().b << ": expected "
                      << GetParam().want;
}
INSTANTIATE_TEST_SUITE_P(Table, IrSemantics, testing::ValuesIn(kRows),
                         [](const auto& info) { return info.param.name; });

std::string RunText(const std::string& text, const std::vector<KpAny>& args, const InterpretOptions& options = {}) {
  return CatchMessage([&] { Interpret(Parse(text), "f", args, nullptr, options); });
}

TEST(IrInterpreter, LoopsStoreAndLoad) {
  Array x = Array::Of<float>(kF32, {2, 3}, {1, 2, 3, 4, 5, 6}), out(kF32, {3, 2});
  EXPECT_EQ(
      RunText("func f(x: f32[N, D]) -> (o: f32[D, N]) { for i in 0..N { parallel j in 0..D { o[j, i] = x[i, j] } } }",
              {x.Value(), out.Value()}),
      "");
  EXPECT_EQ(std::vector<float>(out.as<float>(), out.as<float>() + 6), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(IrInterpreter, LeavesLoopsAndRounds) {
  Array x = Array::Of<int32_t>(kI32, {5}, {4, 0, 7, -1, 9}), out = Array::Of<int32_t>(kI32, {2}, {0, 0});
  EXPECT_EQ(RunText(R"(func f(x: i32[N]) -> (o: i32[2]) {
    for i in 0..N {
      if x[i] == 0i32 { continue }
      for j in 0..100 { if j == 3 { break } o[1] = o[1] + 1i32 }
      if x[i] < 0i32 { break o[0] = 99i32 }
      o[0] = o[0] + x[i]
    }
    while o[0] < 1000i32 { o[0] = o[0] * 2i32 }
  })",
                    {x.Value(), out.Value()}),
            "");
  EXPECT_EQ(out.as<int32_t>()[0], 1408);
  EXPECT_EQ(out.as<int32_t>()[1], 9);
}

TEST(IrInterpreter, MasksGuardMemory) {
  Array x = Array::Of<int32_t>(kI32, {3}, {1, 2, 3}), out = Array::Of<int32_t>(kI32, {3}, {9, 9, 9});
  EXPECT_EQ(RunText(
                R"ir(func f(x: i32[N]) -> (o: i32[N]) {
                  let i = ramp(0, 1, 4)
                  let m = i < broadcast(N, 4) & i != broadcast(1, 4)
                  o[i] = load_if(x[i], m, broadcast(-1i32, 4)) * broadcast(2i32, 4) where m
                })ir",
                {x.Value(), out.Value()}),
            "");
  EXPECT_EQ(std::vector<int32_t>(out.as<int32_t>(), out.as<int32_t>() + 3), (std::vector<int32_t>{2, 9, 6}));
}

TEST(IrInterpreter, ThreadsOfABlockMeetAtBarriers) {
  Array x = Array::Of<int32_t>(kI32, {8}, {0, 1, 2, 3, 4, 5, 6, 7}), out(kI32, {8});
  EXPECT_EQ(RunText(R"(func f(x: i32[N]) -> (o: i32[N]) {
    launch grid(N / 4) block(4) {
      alloc t: i32[4] shared
      t[thread.x] = x[block.x * 4i32 + thread.x]
      for turn in 0..2 {
        barrier
        let v = t[3i32 - thread.x]
        barrier
        t[thread.x] = v + 1i32
      }
      barrier
      o[block.x * 4i32 + thread.x] = t[3i32 - thread.x]
    }
  })",
                    {x.Value(), out.Value()}),
            "");
  EXPECT_EQ(std::vector<int32_t>(out.as<int32_t>(), out.as<int32_t>() + 8),
            (std::vector<int32_t>{5, 4, 3, 2, 9, 8, 7, 6}));
}

TEST(IrInterpreter, ReportsThreadsThatMeetInSharedMemory) {
  const auto run = [](const std::string& body) {
    Array x = Array::Of<int32_t>(kI32, {4}, {1, 0, 1, 2}), out(kI32, {4});
    return RunText(
        "func f(x: i32[N]) -> (o: i32[N]) { launch grid(1) block(4) { alloc t: i32[4] shared " + body + " } }",
        {x.Value(), out.Value()});
  };
  EXPECT_EQ(
      run("t[x[thread.x]] = thread.x"),
      "RuntimeError: t: threads 0 and 2 of a block touch element 1, which is shared, with no barrier between, and at "
      "least one of them writes it (line 1)");
  EXPECT_EQ(run("t[x[thread.x]] = 7i32"), "") << "the same value";
  EXPECT_EQ(run("t[thread.x] = thread.x o[thread.x] = t[x[thread.x]]").substr(0, 31),
            "RuntimeError: t: threads 1 and ");
  EXPECT_EQ(run("t[thread.x] = thread.x barrier o[thread.x] = t[x[thread.x]]"), "");
  EXPECT_NE(run("for j in 0..2 { t[thread.x] = thread.x barrier o[thread.x] = t[x[thread.x]] }"), "");
  EXPECT_EQ(run("for j in 0..2 { t[thread.x] = thread.x barrier o[thread.x] = t[x[thread.x]] barrier }"), "");
  EXPECT_NE(run("for j in 0..2 { alloc u: i32[4] shared u[thread.x] = thread.x barrier o[thread.x] = u[x[thread.x]] }"),
            "");
}

TEST(IrInterpreter, CallsPersistentMemoryAndReturn) {
  const IRModule m = Parse(R"(
    private func twice(x: i64[N]) -> (y: i64[N]) { for i in 0..N { y[i] = x[i] * 2 } }
    func f(x: i64[N], stop: bool) -> (y: i64[N]) {
      alloc seen: i64[1] persistent("seen", zeroed)
      seen[0] = seen[0] + 1
      call twice(x, y)
      if stop { return }
      y[0] = seen[0]
    })");
  Array x = Array::Of<int64_t>(kI64, {2}, {5, 6}), y(kI64, {2});
  PersistentMemory memory;
  KpAny no = Int(0), yes = Int(1);
  for (int i = 0; i < 3; ++i) Interpret(m, "f", {x.Value(), no, y.Value()}, &memory);
  EXPECT_EQ(y.as<int64_t>()[0], 3);
  EXPECT_EQ(y.as<int64_t>()[1], 12);
  Interpret(m, "f", {x.Value(), yes, y.Value()}, &memory);
  EXPECT_EQ(y.as<int64_t>()[0], 10);
}

// The verifier refuses it; whoever interprets without verifying still touches no freed memory.
TEST(IrInterpreter, PersistentMemoryThatGrowsLeavesBuffersInItAlone) {
  const IRModule m = Parse(R"(
    func g(y!: i64[1]) -> () { alloc p: i64[100000] persistent("k", zeroed) p[99999] = 5 y[0] = p[99999] }
    func f(y!: i64[1]) -> () { alloc p: i64[4] persistent("k", zeroed) call g(y) p[1] = 2 y[0] = y[0] + p[1] })");
  Array y(kI64, {1});
  PersistentMemory memory;
  Interpret(m, "f", {y.Value()}, &memory);
  EXPECT_EQ(y.as<int64_t>()[0], 7);
}

TEST(IrInterpreter, TakesEmptyTensorsOfAnyStrides) {
  Array x(kF32, {0, 3});
  const int64_t strides[] = {1, 1};
  x.tensor.strides = const_cast<int64_t*>(strides);
  EXPECT_EQ(RunText("func f(x: f32[N, 3]) -> () { }", {x.Value()}), "");
}

TEST(IrInterpreter, ExternsAreGivenByName) {
  Array out(kF64, {1});
  InterpretOptions options;
  options.externs["hypot"] = [](const std::vector<double>& v) { return v[0] * v[0] + v[1]; };
  const char* text = "func f(a: f64) -> (o: f64[1]) { o[0] = extern(\"hypot\", f64, a, 4.0f64) }";
  EXPECT_EQ(RunText(text, {Float(3), out.Value()}, options), "");
  EXPECT_EQ(out.as<double>()[0], 13);
  EXPECT_EQ(RunText(text, {Float(3), out.Value()}),
            "NameError: extern \"hypot\": the interpreter was given no such function");
}

TEST(IrInterpreter, RefusesWhatDoesNotFit) {
  Array x(kF32, {4}), short_one(kF32, {3}), wrong(kI32, {4}), matrix(kF32, {2, 2});
  const char* copy = "func f(x: f32[N], k: i8) -> (o: f32[N]) { for i in 0..N { o[i] = x[i] } }";
  EXPECT_EQ(RunText(copy, {x.Value(), Int(1)}), "TypeError: f: expected 3 arguments, got 2");
  EXPECT_EQ(RunText(copy, {x.Value(), Int(1), short_one.Value()}), "ValueError: f: o: dimension 0: expected 4, got 3");
  EXPECT_EQ(RunText(copy, {x.Value(), Int(1), wrong.Value()}), "TypeError: f: o: expected f32, got i32");
  EXPECT_EQ(RunText(copy, {x.Value(), Int(1), matrix.Value()}), "ValueError: f: o: expected 1 dimensions, got 2");
  EXPECT_EQ(RunText(copy, {x.Value(), Int(128), x.Value()}), "ValueError: f: k: 128 does not fit i8");
  EXPECT_EQ(RunText(copy, {x.Value(), Float(1), x.Value()}), "TypeError: f: k: expected a number for i8");
  EXPECT_EQ(RunText(copy, {Int(1), Int(1), x.Value()}), "TypeError: f: x: expected a tensor");
}

TEST(IrInterpreter, ReportsAccessesAssertsAndEndlessWork) {
  Array x(kF32, {4});
  EXPECT_EQ(RunText("func f(x!: f32[N]) -> () {\n  for i in 0..N {\n    x[i + 1] = 0.0\n  }\n}", {x.Value()}),
            "IndexError: f: x[i + 1]: index 4 is out of range for axis 0 of extent 4");
  EXPECT_EQ(RunText("func f(x!: f32[N]) -> () { assert N > 4, TypeError \"too few\" }", {x.Value()}),
            "TypeError: too few");
  InterpretOptions options;
  options.max_steps = 1000;
  EXPECT_EQ(RunText("func f(x!: f32[N]) -> () { for i in 0..1000000000000 { } }", {x.Value()}, options),
            "RuntimeError: interpreter: gave up after 1000 steps");
  EXPECT_EQ(RunText("func f(x!: f32[N]) -> () { while true { continue } }", {x.Value()}, options),
            "RuntimeError: interpreter: gave up after 1000 steps");
  EXPECT_EQ(
      RunText("func f(x!: f32[N]) -> () { launch grid(1) block(2) { if thread.x == 0i32 { barrier } } }", {x.Value()}),
      "RuntimeError: barrier: only some threads of the block reach it (line 1)");
}

}  // namespace
}  // namespace ir_test
