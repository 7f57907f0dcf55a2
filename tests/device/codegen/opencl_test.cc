// The generator of kind opencl, on whatever OpenCL device there is: the semantics table, and samples against the interpreter.
#include <kernpack/sdk/ir/interpret.h>

#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "ir/arguments.h"
#include "ir/semantics.h"
#include "on_device.h"
#include "samples.h"

namespace ir_test {
namespace {

constexpr KpDLDevice kDevice{KP_DEVICE_OPENCL, 0};

// Skips, with the reason, where there is no device.
template <class Base>
class OnOpenCl : public Base {
 protected:
  void SetUp() override {
    int32_t count = 0;
    KpAny reason = kp_none();
    ASSERT_EQ(kp_backend_load(OPENCL_PLUGIN), 0);
    ASSERT_EQ(kp_device_count(KP_DEVICE_OPENCL, &count, &reason), 0);
    KpBytes text{};
    const std::string why = kp_any_str(&reason, &text) ? text.data : "no OpenCL device";
    kp_any_release(&reason);
    if (count == 0) GTEST_SKIP() << why;
  }
};

class OpenClSemantics : public OnOpenCl<testing::TestWithParam<Row>> {};

TEST_P(OpenClSemantics, Scalars) {
  static const Compiled compiled(Parse(SemanticsModule()), "opencl");
  RowCase c(GetParam());
  EXPECT_EQ(OnDevice(kDevice).Call(compiled, FunctionOf(GetParam()), c.Args()), "");
  EXPECT_TRUE(c.Ok()) << GetParam().expr;
}
TEST_P(OpenClSemantics, Vectors) {
  static const Compiled compiled(Parse(VectorSemanticsModule()), "opencl");
  RowCase c(GetParam(), 11);
  EXPECT_EQ(OnDevice(kDevice).Call(compiled, FunctionOf(GetParam()), c.Args()), "");
  EXPECT_TRUE(c.Ok()) << GetParam().expr;
}
INSTANTIATE_TEST_SUITE_P(Table, OpenClSemantics, testing::ValuesIn(kRows),
                         [](const auto& info) { return info.param.name; });

struct Sample {
  const char* module;
  const char* function;
};

class OpenClSamples : public OnOpenCl<testing::TestWithParam<Sample>> {};

TEST_P(OpenClSamples, AgreeWithTheInterpreter) {
  static std::map<const char*, Compiled> built;
  const char* text = GetParam().module;
  const IRModule module = Parse(text);
  const Compiled& compiled = built.try_emplace(text, module, "opencl").first->second;
  const FuncNode& f = *module.Find(GetParam().function);
  for (const int64_t n : {0, 1, 2, 5, 37}) {
    const Dims dims{{"N", n}, {"D", n + 3}};
    const auto seed = static_cast<uint64_t>(n);
    Arguments want(f, dims, seed);
    Arguments got(f, dims, seed);
    Interpret(module, f.name, want.Any());
    EXPECT_EQ(OnDevice(kDevice).Call(compiled, f.name, got.Any()), "");
    for (size_t i = 0; i < want.arrays().size(); ++i) {
      EXPECT_TRUE(want.arrays()[i].bytes == got.arrays()[i].bytes) << "tensor " << i << " for N = " << n;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, OpenClSamples,
                         testing::Values(Sample{kSequential, "calls"}, Sample{kSequential, "every_scalar"},
                                         Sample{kSequential, "every_float"}, Sample{kSequential, "storage"},
                                         Sample{kSequential, "nested"}, Sample{kSequential, "scratch"},
                                         Sample{kSequential, "early"}, Sample{kSequential, "shared_binding"},
                                         Sample{kSequential, "computed"}, Sample{kSequential, "keywords"},
                                         Sample{kSequential, "negative_steps"}, Sample{kSequential, "empty_range"},
                                         Sample{kSequential, "shuffles"}, Sample{kLaunches, "indices"},
                                         Sample{kLaunches, "neighbours"}),
                         [](const auto& info) { return std::string(info.param.function); });

class OpenClModule : public OnOpenCl<testing::Test> {};

TEST_F(OpenClModule, TakesSizesThatTheHostComputes) {
  const Compiled compiled(Parse(kLaunches), "opencl");
  Array x = Array::Of<int32_t>(kI32, {3}, {10, 20, 30});
  Array o(kI32, {3});
  EXPECT_EQ(OnDevice(kDevice).Call(compiled, "sized", {x.Value(), Int(3), o.Value()}), "");
  EXPECT_EQ(o.as<int32_t>()[0], 24);
  EXPECT_EQ(o.as<int32_t>()[2], 64);
  Array f = Array::Of<float>(kF32, {2}, {1, 2});
  Array g(kF32, {2});
  EXPECT_EQ(OnDevice(kDevice).Call(compiled, "loops", {f.Value(), Int(5), g.Value()}), "");
  EXPECT_EQ(g.as<float>()[1], 2 + 0 + 2 + 4);
}

TEST_F(OpenClModule, KeepsPersistentMemoryBetweenCalls) {
  const Compiled compiled(Parse(R"(module "counter" func count(x: i64[N], n: i64) -> (o: i64[1]) {
    alloc seen: i64[1] persistent("seen", zeroed) seen[0] = seen[0] + n o[0] = seen[0] })"),
                          "opencl");
  Array x(kI64, {1});
  Array o(kI64, {1});
  for (const int64_t want : {5, 10, 15}) {
    EXPECT_EQ(OnDevice(kDevice).Call(compiled, "count", {x.Value(), Int(5), o.Value()}), "");
    EXPECT_EQ(o.as<int64_t>()[0], want);
  }
}

TEST_F(OpenClModule, ChecksArguments) {
  const Compiled compiled(
      Parse("module \"checks\" func f(x: f32[N], k: i8) -> (o: f32[N]) { assert k > 0i8, \"k is not positive\" "
            "parallel i in 0..N { o[i] = x[i] * f32(k) } } func open(x!: f32[N], y: f32[N]) -> () signature "
            "\"(x!: f32[_], y: f32[_]) -> ()\" { parallel i in 0..N { x[i] = y[i] } }"),
      "opencl");
  Array x(kF32, {4});
  Array y(kF32, {3});
  EXPECT_EQ(OnDevice(kDevice).Call(compiled, "f", {x.Value(), Int(0), x.Value()}), "ValueError: k is not positive");
  EXPECT_EQ(OnDevice(kDevice).Call(compiled, "open", {x.Value(), y.Value()}),
            "ValueError: open: y: dimension 0: expected 4, got 3");
  EXPECT_EQ(OnDevice(kDevice).Call(compiled, "f", {x.Value(), Int(300), x.Value()}).substr(0, 8), "ValueErr");
  Array o(kF32, {4});
  EXPECT_NE(compiled.Call("f", {x.Value(), Int(1), o.Value()}).find("opencl"), std::string::npos)
      << "the processor does not run it, and the error says what does";
}

TEST_F(OpenClModule, IsExportedWithItsCode) {
  const std::string path = testing::TempDir() + "kernpack_exported_opencl.so";
  const IRModule module = Parse(
      "module \"exported\" func f(x: i32[N]) -> (o: i32[N]) { parallel i in 0..N { o[i] = x[i] + "
      "1i32 } }");
  kernpack::sdk::Export(module, kernpack::sdk::Target("opencl"), path);
  const char* const file = path.c_str();
  const KpLoadedModule* loaded = nullptr;
  ASSERT_EQ(kp_module_load(&file, 1, 0, &loaded), 0);
  EXPECT_STREQ(kp_module_name(loaded), "exported");
  EXPECT_NE(kp_module_function(loaded, kp_bytes("f")), nullptr);
  std::remove(file);
}

TEST(OpenClSource, IsOneProgramWithAKernelALaunch) {
  const IRModule module = Parse(
      "func f(x: f32[N]) -> (o: f32[N]) { parallel i in 0..N { o[i] = x[i] + 1.0 } "
      "parallel i in 0..N { o[i] = o[i] * 2.0 } }");
  const std::string source = kernpack::sdk::Source(module, kernpack::sdk::Target("opencl"));
  EXPECT_NE(source.find("__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void f_kernel("), std::string::npos)
      << source;
  EXPECT_NE(source.find("void f_kernel_1("), std::string::npos) << source;
}

TEST(OpenClSource, SaysWhatDeviceCodeCannotDo) {
  const auto build = [](const std::string& text) {
    return MessageOf([&] { kernpack::sdk::Source(Parse(text), kernpack::sdk::Target("opencl")); });
  };
  const std::string head = "func f(x: i64[N]) -> (o: i64[N]) { ",
                    kind = "NotImplementedError: f: the kind opencl cannot generate ";
  EXPECT_EQ(build(head + "parallel i in 0..N { assert x[i] > 0, \"x\" o[i] = x[i] } }"),
            kind + "an assert inside a launch; check on the host, before it");
  EXPECT_EQ(build(head + "let n = x[0] alloc t: i64[n] workspace for i in 0..n { t[i] = 1 o[i] = t[i] } }"),
            kind + "memory 't' of a size that is computed inside a launch");
  EXPECT_EQ(build(head + "parallel i in 0..N { o[i] = i64(extern(\"g\", f64, 1.0f64)) } }"),
            kind + "extern \"g\": device code calls no C function");
  EXPECT_EQ(build("module \"m\" private func g(x: i64[M]) -> (y: i64[M]) { y[0] = x[0] } " + head +
                  "parallel i in 0..N { alloc t: i64[N] workspace call g(x, t) o[i] = t[0] } }"),
            kind + "a call of 'g' inside a launch");
}

}  // namespace
}  // namespace ir_test
