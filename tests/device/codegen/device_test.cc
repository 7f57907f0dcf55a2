// Generated device code on a device: the semantics table, and samples against the interpreter.
#include <kernpack/sdk/ir/interpret.h>

#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "ir/arguments.h"
#include "kind.h"
#include "on_device.h"
#include "rows_on_device.h"
#include "samples.h"

namespace ir_test {
namespace {

class DeviceSemantics : public OnKind<testing::TestWithParam<size_t>> {};

TEST_P(DeviceSemantics, Scalars) {
  static const RowsOnDevice rows(device, 0);
  EXPECT_EQ(rows.Problem(GetParam()), "");
  EXPECT_TRUE(rows.Ok(GetParam())) << kRows[GetParam()].expr;
}
TEST_P(DeviceSemantics, Vectors) {
  static const RowsOnDevice rows(device, 11);
  EXPECT_EQ(rows.Problem(GetParam()), "");
  EXPECT_TRUE(rows.Ok(GetParam())) << kRows[GetParam()].expr;
}
INSTANTIATE_TEST_SUITE_P(Table, DeviceSemantics, testing::Range<size_t>(0, std::size(kRows)),
                         [](const auto& info) { return kRows[info.param].name; });

struct Sample {
  const char* module;
  const char* function;
};
void PrintTo(const Sample& sample, std::ostream* out) { *out << sample.module << " " << sample.function; }

class DeviceSamples : public OnKind<testing::TestWithParam<Sample>> {};

TEST_P(DeviceSamples, AgreeWithTheInterpreter) {
  static std::map<const char*, Compiled> built;
  const char* text = GetParam().module;
  const IRModule module = Parse(text);
  const Compiled& compiled = built.try_emplace(text, module, TestTarget().c_str()).first->second;
  const FuncNode& f = *module.Find(GetParam().function);
  for (const int64_t n : {0, 1, 2, 5, 37}) {
    const Dims dims{{"N", n}, {"D", n + 3}};
    const auto seed = static_cast<uint64_t>(n);
    Arguments want(f, dims, seed);
    Arguments got(f, dims, seed);
    Interpret(module, f.name, want.Any());
    EXPECT_EQ(OnDevice(device).Call(compiled, f.name, got.Any()), "");
    for (size_t i = 0; i < want.arrays().size(); ++i) {
      EXPECT_TRUE(want.arrays()[i].bytes == got.arrays()[i].bytes) << "tensor " << i << " for N = " << n;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(
    All, DeviceSamples,
    testing::Values(Sample{kSequential.c_str(), "calls"}, Sample{kSequential.c_str(), "every_scalar"},
                    Sample{kSequential.c_str(), "every_float"}, Sample{kSequential.c_str(), "storage"},
                    Sample{kSequential.c_str(), "nested"}, Sample{kSequential.c_str(), "scratch"},
                    Sample{kSequential.c_str(), "first_negative"}, Sample{kSequential.c_str(), "rounds"},
                    Sample{kSequential.c_str(), "conditions_that_need_statements"},
                    Sample{kSequential.c_str(), "places"}, Sample{kSequential.c_str(), "early"},
                    Sample{kSequential.c_str(), "shared_binding"}, Sample{kSequential.c_str(), "launch_of_loaded_size"},
                    Sample{kSequential.c_str(), "computed"}, Sample{kSequential.c_str(), "keywords"},
                    Sample{kSequential.c_str(), "negative_steps"}, Sample{kSequential.c_str(), "empty_range"},
                    Sample{kSequential.c_str(), "shuffles"}, Sample{kSequential.c_str(), "quotients_that_are_0_or_1"},
                    Sample{kLaunches, "indices"}, Sample{kLaunches, "neighbours"}),
    [](const auto& info) { return std::string(info.param.function); });

class DeviceModule : public OnKind<testing::Test> {};

TEST_F(DeviceModule, TakesSizesThatTheHostComputes) {
  const Compiled compiled(Parse(kLaunches), TestTarget().c_str());
  Array x = Array::Of<int32_t>(kI32, {3}, {10, 20, 30});
  Array o(kI32, {3});
  EXPECT_EQ(OnDevice(device).Call(compiled, "sized", {x.Value(), Int(3), o.Value()}), "");
  EXPECT_EQ(o.as<int32_t>()[0], 24);
  EXPECT_EQ(o.as<int32_t>()[2], 64);
  Array f = Array::Of<float>(kF32, {2}, {1, 2});
  Array g(kF32, {2});
  EXPECT_EQ(OnDevice(device).Call(compiled, "loops", {f.Value(), Int(5), g.Value()}), "");
  EXPECT_EQ(g.as<float>()[1], 2 + 0 + 2 + 4);
}

TEST_F(DeviceModule, KeepsPersistentMemoryBetweenCalls) {
  const Compiled compiled(Parse(R"(module "counter" func count(x: i64[N], n: i64) -> (o: i64[1]) {
    alloc seen: i64[1] persistent("seen", zeroed) seen[0] = seen[0] + n o[0] = seen[0] })"),
                          TestTarget().c_str());
  Array x(kI64, {1});
  Array o(kI64, {1});
  for (const int64_t want : {5, 10, 15}) {
    EXPECT_EQ(OnDevice(device).Call(compiled, "count", {x.Value(), Int(5), o.Value()}), "");
    EXPECT_EQ(o.as<int64_t>()[0], want);
  }
}

TEST_F(DeviceModule, ChecksArguments) {
  const char* text = R"ir(module "checks"
  func f(x: f32[N], k: i8) -> (o: f32[N]) {
    assert k > 0i8, "k is not positive"
    parallel i in 0..N {
      o[i] = x[i] * f32(k)
    }
  }
  func open(x!: f32[N], y: f32[N]) -> () signature "(x!: f32[_], y: f32[_]) -> ()" {
    parallel i in 0..N {
      x[i] = y[i]
    }
  })ir";
  const Compiled compiled(Parse(text), TestTarget().c_str());
  Array x(kF32, {4});
  Array y(kF32, {3});
  EXPECT_EQ(OnDevice(device).Call(compiled, "f", {x.Value(), Int(0), x.Value()}), "ValueError: k is not positive");
  EXPECT_EQ(OnDevice(device).Call(compiled, "open", {x.Value(), y.Value()}),
            "ValueError: open: y: dimension 0: expected 4, got 3");
  EXPECT_EQ(OnDevice(device).Call(compiled, "f", {x.Value(), Int(300), x.Value()}).substr(0, 8), "ValueErr");
  Array o(kF32, {4});
  EXPECT_NE(compiled.Call("f", {x.Value(), Int(1), o.Value()}).find(Kind()), std::string::npos)
      << "the processor does not run it, and the error says what does";
}

TEST_F(DeviceModule, IsExportedWithItsCode) {
  const std::string path = testing::TempDir() + "kernpack_exported_opencl.so";
  const IRModule module = Parse(
      R"ir(module "exported"
      func f(x: i32[N]) -> (o: i32[N]) {
        parallel i in 0..N {
          o[i] = x[i] + 1i32
        }
      })ir");
  kernpack::sdk::Export(module, kernpack::sdk::Target(TestTarget()), path);
  const char* const file = path.c_str();
  const KpLoadedModule* loaded = nullptr;
  ASSERT_EQ(kp_module_load(&file, 1, 0, &loaded), 0);
  EXPECT_STREQ(kp_module_name(loaded), "exported");
  EXPECT_NE(kp_module_function(loaded, kp_bytes("f")), nullptr);
  std::remove(file);
}

}  // namespace
}  // namespace ir_test

#ifdef __SANITIZE_ADDRESS__
// Leaks inside PoCL's library don't concern these tests.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() { return "leak:libpocl\n"; }
#endif
