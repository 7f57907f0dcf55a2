// The output of the generators of device code, without a device.
#include <gtest/gtest.h>

#include <string>

#include "ir/compiled.h"

namespace ir_test {
namespace {

TEST(OpenClSource, IsOneProgramWithAKernelALaunch) {
  const IRModule module = Parse(
      R"ir(func f(x: f32[N]) -> (o: f32[N]) {
        parallel i in 0..N {
          o[i] = x[i] + 1.0
        }
        parallel i in 0..N {
          o[i] = o[i] * 2.0
        }
      })ir");
  const std::string source = kernpack::sdk::Source(module, kernpack::sdk::Target("opencl"));
  EXPECT_NE(source.find("__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void f_kernel("), std::string::npos)
      << source;
  EXPECT_NE(source.find("void f_kernel_1("), std::string::npos) << source;
}

// Blocks of two warps, unless the target allows fewer threads; those beyond the last iteration do nothing. A work item an iteration
// where nothing is said about warps: OpenCL's device may be a processor.
TEST(DeviceSource, ParallelLoopsFillWarps) {
  const auto source = [](const char* target) {
    return kernpack::sdk::Source(Parse("func f(x: f32[N]) -> (o: f32[N]) { parallel i in 0..N { o[i] = x[i] + 1.0 } }"),
                                 kernpack::sdk::Target(target));
  };
  const auto holds = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const std::string cuda = source("cuda"), small = source("cuda -max_threads_per_block=48"),
                    opencl = source("opencl -thread_warp_size=32");
  EXPECT_TRUE(holds(cuda, "__launch_bounds__(64)")) << cuda;
  EXPECT_TRUE(holds(cuda, "< i_count")) << cuda;
  EXPECT_TRUE(holds(small, "__launch_bounds__(48)")) << small;
  EXPECT_TRUE(holds(opencl, "reqd_work_group_size(64, 1, 1)")) << opencl;
  EXPECT_TRUE(holds(source("opencl"), "reqd_work_group_size(1, 1, 1)"));
  EXPECT_FALSE(holds(source("opencl"), "i_count"));
}

// Of ptxas, which would fold a negation into the minimum and lose it (codegen/cuda/dialect.cc).
TEST(DeviceSource, CudaHidesWhatAMinimumOfIntegersIsOf) {
  const auto source = [](const char* type) {
    const std::string t = type;
    return kernpack::sdk::Source(Parse("func f(x: " + t + "[N]) -> (o: " + t +
                                       "[N]) { parallel i in 0..N { o[i] = "
                                       "max(min(-x[i], x[0]), x[1]) } }"),
                                 kernpack::sdk::Target("cuda"));
  };
  for (const char* type : {"i8", "i16", "i32"}) {
    const std::string text = source(type);
    EXPECT_EQ(text.find("return a < b ? a : b"), std::string::npos) << text;
    EXPECT_NE(text.find("(uint32_t)a_ < (uint32_t)b_"), std::string::npos) << text;
    EXPECT_NE(text.find("(uint32_t)a_ > (uint32_t)b_"), std::string::npos) << text;
  }
  EXPECT_NE(source("i64").find("return a < b ? a : b"), std::string::npos);
}

TEST(OpenClSource, SaysWhatDeviceCodeCannotDo) {
  const auto build = [](const std::string& text) {
    return CatchMessage([&] { kernpack::sdk::Source(Parse(text), kernpack::sdk::Target("opencl")); });
  };
  const std::string head = "func f(x: i64[N]) -> (o: i64[N]) { ",
                    kind = "NotImplementedError: f: the kind opencl cannot generate ";
  EXPECT_EQ(build(head + "launch grid(1) block(N) { assert x[thread.x] > 0, \"x\" barrier } }"),
            kind + "an assert inside a launch with barriers; check before the launch, or build it checked");
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
