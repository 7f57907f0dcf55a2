// Default schedules for GPUs on a device: tiles in shared memory, rows by blocks, tails. Equal to the interpreter, but for the last
// bits of exp.
#include <kernpack/sdk/ir/interpret.h>
#include <kernpack/sdk/schedule/default.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "ir/arguments.h"
#include "kind.h"
#include "on_device.h"

namespace ir_test {
namespace {

struct Nest {
  const char* name;
  const char* text;
  const char* made;  // a part of the schedule: that it is the one meant
  float within = 0;  // relatively; of exp, which differs in the last bits
};
void PrintTo(const Nest& nest, std::ostream* out) { *out << nest.name; }

constexpr Nest kNests[] = {
    {"Elements",
     "func f(x: f32[N, D]) -> (o: f32[N, D]) { for i in 0..N { for j in 0..D { o[i, j] = abs(x[i, j]) } } }",
     "block(256"},
    {"Product",
     R"ir(func f(a: f32[N, K], b: f32[K, D]) -> (o: f32[N, D]) {
       for i in 0..N {
         for j in 0..D {
           o[i, j] = reduce(+, k in 0..K, sequential, a[i, k] * b[k, j])
         }
       }
     })ir",
     "shared"},
    {"Transpose", "func f(x: i32[N, D]) -> (o: i32[D, N]) { for i in 0..D { for j in 0..N { o[i, j] = x[j, i] } } }",
     "shared"},
    {"SumsOfRows",
     "func f(x: f32[N, D]) -> (o: f32[N]) { for i in 0..N { o[i] = reduce(+, j in 0..D, any 16, x[i, j]) } }",
     "shared"},
    {"Softmax",
     R"ir(func f(x: f32[N, D]) -> (o: f32[N, D]) {
       for i in 0..N {
         let m = reduce(max, j in 0..D, any 16, x[i, j])
         alloc e: f32[D] workspace
         for k in 0..D {
           e[k] = exp(x[i, k] - m)
         }
         let s = reduce(+, j in 0..D, any 16, e[j])
         for k in 0..D {
           o[i, k] = e[k] / s
         }
       }
     })ir",
     "shared", 1e-6F},
};

// Not-a-numbers are alike, whatever their bits.
bool Same(const Array& a, const Array& b, float within) {
  if (a.type != kF32) return a.bytes == b.bytes;
  for (size_t at = 0; at < a.bytes.size(); at += 4) {
    float x = 0, y = 0;
    std::memcpy(&x, a.bytes.data() + at, 4);
    std::memcpy(&y, b.bytes.data() + at, 4);
    const bool near = within != 0 && std::fabs(x - y) <= within * std::fabs(x);
    if (std::memcmp(&x, &y, 4) != 0 && !near && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

class DefaultSchedules : public OnKind<testing::TestWithParam<Nest>> {};

TEST_P(DefaultSchedules, AgreeWithTheInterpreter) {
  std::string target = TestTarget() + " -fast-math-contract=0";
  if (std::string(Kind()) == "opencl") target += " -thread_warp_size=32";
  const IRModule module = Parse(std::string("module \"default_") + GetParam().name + "\" " + GetParam().text);
  const IRModule scheduled = kernpack::sdk::ir::ScheduleByDefault(module, kernpack::sdk::Target(target));
  EXPECT_NE(kernpack::sdk::ir::Print(scheduled).find(GetParam().made), std::string::npos)
      << kernpack::sdk::ir::Print(scheduled);
  const Compiled compiled(scheduled, target.c_str());
  for (const Dims& dims : {Dims{{"N", 37}, {"D", 53}, {"K", 19}}, Dims{{"N", 16}, {"D", 32}, {"K", 48}},
                           Dims{{"N", 1}, {"D", 300}, {"K", 1}}, Dims{{"N", 3}, {"D", 0}, {"K", 2}}}) {
    Arguments want(*module.Find("f"), dims, 7), got(*module.Find("f"), dims, 7);
    Interpret(module, "f", want.Any());
    EXPECT_EQ(OnDevice(device).Call(compiled, "f", got.Any()), "");
    for (size_t i = 0; i < want.arrays().size(); ++i) {
      EXPECT_TRUE(Same(want.arrays()[i], got.arrays()[i], GetParam().within))
          << "tensor " << i << " for N = " << dims.at("N") << ", D = " << dims.at("D");
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, DefaultSchedules, testing::ValuesIn(kNests),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ir_test
