// Virtual devices: the value, its invariant, what Join and Default make of two.
#include <kernpack/sdk/virtual_device.h>

#include <gtest/gtest.h>

#include "support.h"

namespace kernpack::sdk {
namespace {

constexpr auto kOpen = std::nullopt;

TEST(VirtualDevice, NoConstructorFillsWhatWasNotGiven) {
  EXPECT_TRUE(VirtualDevice().IsFullyUnconstrained());
  const VirtualDevice type = VirtualDevice::ForDeviceType(KP_DEVICE_CUDA);
  EXPECT_EQ(type.fields(), (VirtualDeviceFields{KP_DEVICE_CUDA, kOpen, kOpen, kOpen}));
  const VirtualDevice target = VirtualDevice::ForTarget(Target("cuda"));
  EXPECT_EQ(target.device_type(), KP_DEVICE_CUDA);
  EXPECT_FALSE(target.virtual_device_id());
  EXPECT_FALSE(target.memory_scope());
  EXPECT_FALSE(VirtualDevice::ForMemoryScope("global").device_type());
}

TEST(VirtualDevice, TypeIsTheTargets) {
  EXPECT_ERROR(VirtualDevice({KP_DEVICE_CPU, kOpen, Target("cuda"), kOpen}), "ValueError",
               "target 'cuda' is for cuda, but device_type is cpu");
  EXPECT_ERROR(VirtualDevice::ForDeviceType(0), "ValueError", "above 0, got 0");
  EXPECT_ERROR(VirtualDevice::ForDeviceType(KP_DEVICE_CPU, -1), "ValueError", "got -1");
}

TEST(VirtualDevice, PrintsWhatIsConstrained) {
  EXPECT_EQ(VirtualDevice().str(), "VirtualDevice()");
  EXPECT_EQ(VirtualDevice({KP_DEVICE_CUDA, 3, Target("cuda -arch=sm_90"), "global"}).str(),
            "VirtualDevice(device_type='cuda', virtual_device_id=3, target='cuda -arch=sm_90', memory_scope='global')");
}

// The example of the source header says that this fails; by its own rule it does not: only one side gives a scope.
TEST(VirtualDevice, AScopeGivenOnOneSideOnlyJoins) {
  const VirtualDevice a({KP_DEVICE_CPU, kOpen, Target("llvm"), kOpen});
  const VirtualDevice b({kOpen, 3, kOpen, "local"});
  EXPECT_EQ(VirtualDevice::Join(a, b), VirtualDevice({KP_DEVICE_CPU, 3, Target("llvm"), "local"}));
  const VirtualDevice c({KP_DEVICE_CPU, kOpen, Target("llvm"), "local"});
  const VirtualDevice d({kOpen, 3, kOpen, "global"});
  EXPECT_EQ(VirtualDevice::Join(c, d), std::nullopt);
}

TEST(VirtualDevice, EqualTargetsJoin) {
  const VirtualDevice a = VirtualDevice::ForTarget(Target("cuda -arch=sm_90 -max_num_threads=1024"));
  const VirtualDevice b = VirtualDevice::ForTarget(Target(R"({"kind": "cuda", "arch": "sm_90"})"));
  EXPECT_EQ(VirtualDevice::Join(a, b), a);
}

TEST(VirtualDevice, DefaultKeepsTheTypeOfTheLeft) {
  const VirtualDevice a = VirtualDevice::ForDeviceType(KP_DEVICE_CPU);
  const VirtualDevice b({KP_DEVICE_CUDA, 3, Target("cuda"), "global"});
  EXPECT_EQ(VirtualDevice::Default(a, b), VirtualDevice({KP_DEVICE_CPU, 3, kOpen, "global"}));
}

TEST(VirtualDevice, ToDeviceNeedsTypeAndId) {
  const KpDLDevice device = VirtualDevice::ForDeviceType(KP_DEVICE_CUDA, 0).ToDevice();
  EXPECT_EQ(device.device_type, KP_DEVICE_CUDA);
  EXPECT_EQ(device.device_id, 0);
  EXPECT_ERROR(VirtualDevice::ForDeviceType(KP_DEVICE_CUDA).ToDevice(), "ValueError", "virtual_device_id is open");
}

TEST(VirtualDevice, CacheMakesEqualOnesOneObject) {
  VirtualDeviceCache cache;
  const VirtualDevice a = cache.Make({KP_DEVICE_CPU, 1, Target("llvm"), "global"});
  const VirtualDevice b = cache.Make({KP_DEVICE_CPU, 1, Target("llvm"), "global"});
  EXPECT_TRUE(a.SameAs(b));
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_TRUE(cache.Make({}).SameAs(cache.Unique(VirtualDevice())));
}

}  // namespace
}  // namespace kernpack::sdk
