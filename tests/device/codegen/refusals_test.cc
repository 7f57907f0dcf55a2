// Arguments that the host's part of generated device code refuses by itself. No device is needed.
#include "ir/refusals.h"

namespace ir_test {
namespace {

TEST(OpenClHost, RefusesByItselfWhatItCannotTake) {
  const Unguarded f(Parse(std::string("module \"refusals_opencl\" ") + Given::kFunction), "opencl");
  constexpr KpDLDevice kFirst = {KP_DEVICE_OPENCL, 0}, kSecond = {KP_DEVICE_OPENCL, 1};
  ExpectRefusals(f, kFirst);
  Given on_cpu({KP_DEVICE_CPU, 0}), on_two(kSecond);
  EXPECT_EQ(f.Call(on_cpu.args), "ValueError: f: x: expected device opencl, got cpu: move it there");
  on_two.o.device = kFirst;
  EXPECT_EQ(f.Call(on_two.args),
            "ValueError: f: o: expected device opencl:1 (that of x), got opencl:0: move one of them");
}

}  // namespace
}  // namespace ir_test
