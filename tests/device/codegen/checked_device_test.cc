// Checked builds on a device, and asserts inside launches.
#include "ir/checked.h"
#include "kind.h"
#include "on_device.h"

namespace ir_test {
namespace {

class CheckedDevice : public OnKind<testing::Test> {
 protected:
  Caller On(const Compiled& compiled) {
    return [this, &compiled](const std::string& f, const std::vector<KpAny>& args) {
      return OnDevice(device).Call(compiled, f, args);
    };
  }
};

TEST_F(CheckedDevice, Raises) {
  const IRModule module = Unchecked(Kind());
  const Compiled compiled(module, TestTarget().c_str(), {.checked = true});
  ExpectCheckedCalls(module, On(compiled));
}

constexpr char kShared[] = R"(module "checked_shared"
func reversed(idx: i64[N], t: f32[M]) -> (o: f32[N]) {
  launch grid(1) block(4) {
    alloc all: f32[4] shared
    let i = i64(thread.x)
    all[i] = t[i]
    barrier
    if i < N { o[i] = all[idx[i]] }
    barrier
    if i < N { o[i] = o[i] * 2.0 }
  }
})";

// A thread that fails goes on, as others wait for it at the barriers, and touches nothing that is not there.
TEST_F(CheckedDevice, ThreadsThatFailStillMeetAtBarriers) {
  const Compiled compiled(Parse(kShared), TestTarget().c_str(), {.checked = true});
  Array t = Array::Of<float>(kF32, {4}, {1, 2, 3, 4}), o(kF32, {4});
  Array good = Array::Of<int64_t>(kI64, {4}, {3, 2, 1, 0}), bad = Array::Of<int64_t>(kI64, {4}, {3, 4, 1, 0});
  EXPECT_EQ(On(compiled)("reversed", {good.Value(), t.Value(), o.Value()}), "");
  EXPECT_EQ(o.as<float>()[0], 8);
  EXPECT_EQ(On(compiled)("reversed", {bad.Value(), t.Value(), o.Value()}),
            "IndexError: reversed: all[idx[i]]: index 4 is out of range for axis 0 of extent 4");
  EXPECT_EQ(o.as<float>()[3], 2) << "what other threads did stands";
  EXPECT_EQ(On(compiled)("reversed", {good.Value(), t.Value(), o.Value()}), "") << "the word is cleared";
}

TEST_F(CheckedDevice, AssertsRaiseInsideLaunches) {
  const Compiled compiled(Parse(R"(module "device_asserts" func f(x: i64[N]) -> (o: i64[N]) {
    parallel i in 0..N { assert x[i] > 0, ValueError "x[{}] is {}", i, x[i] o[i] = x[i] }
  })"),
                          TestTarget().c_str());
  Array good = Array::Of<int64_t>(kI64, {3}, {1, 2, 3}), bad = Array::Of<int64_t>(kI64, {3}, {1, -2, 3});
  Array o(kI64, {3}), none(kI64, {0}), nothing(kI64, {0});
  EXPECT_EQ(On(compiled)("f", {bad.Value(), o.Value()}), "ValueError: x[1] is -2");
  EXPECT_EQ(o.as<int64_t>()[1], 0) << "the thread ended";
  EXPECT_EQ(On(compiled)("f", {good.Value(), o.Value()}), "");
  EXPECT_EQ(On(compiled)("f", {none.Value(), nothing.Value()}), "");
}

}  // namespace
}  // namespace ir_test
