// The laws of Join and Default, over every combination of a small universe.
#include <kernpack/sdk/virtual_device.h>

#include <gtest/gtest.h>

namespace kernpack::sdk {
namespace {

using Maybe = std::optional<VirtualDevice>;

// Every value whose parts are open or one of two; the targets one on each device type and a second on the first.
std::vector<VirtualDevice> Universe() {
  std::vector<VirtualDevice> all;
  const std::optional<Target> targets[] = {std::nullopt, Target("llvm"), Target("c"), Target("cuda")};
  const std::optional<int32_t> types[] = {std::nullopt, KP_DEVICE_CPU, KP_DEVICE_CUDA};
  const std::optional<int32_t> ids[] = {std::nullopt, 0, 1};
  const std::optional<std::string> scopes[] = {std::nullopt, "global", "local"};
  for (const auto& target : targets) {
    for (const auto& type : types) {
      if (target && type != target->device_type()) continue;  // it follows from the target
      for (const auto& id : ids) {
        for (const auto& scope : scopes) all.emplace_back(VirtualDeviceFields{type, id, target, scope});
      }
    }
  }
  return all;
}

Maybe Join(const Maybe& a, const Maybe& b) { return a && b ? VirtualDevice::Join(*a, *b) : std::nullopt; }

// Each part that a constrains, b constrains alike.
bool Refines(const VirtualDevice& b, const VirtualDevice& a) { return VirtualDevice::Join(a, b) == b; }

TEST(VirtualDeviceLaws, JoinIsCommutativeWithTheOpenOneNeutral) {
  const std::vector<VirtualDevice> all = Universe();
  ASSERT_EQ(all.size(), 54U);
  for (const VirtualDevice& a : all) {
    EXPECT_EQ(VirtualDevice::Join(a, a), a);
    EXPECT_EQ(VirtualDevice::Join(a, VirtualDevice()), a);
    EXPECT_EQ(VirtualDevice::Join(VirtualDevice(), a), a);
    for (const VirtualDevice& b : all) {
      const Maybe joined = VirtualDevice::Join(a, b);
      EXPECT_EQ(joined, VirtualDevice::Join(b, a)) << a.str() << ", " << b.str();
      if (joined) {
        EXPECT_TRUE(Refines(*joined, a) && Refines(*joined, b));
      }
      // Nothing exactly when some part is constrained on both sides, and differently.
      const bool conflict =
          (a.device_type() && b.device_type() && a.device_type() != b.device_type()) ||
          (a.virtual_device_id() && b.virtual_device_id() && a.virtual_device_id() != b.virtual_device_id()) ||
          (a.target() && b.target() && a.target() != b.target()) ||
          (a.memory_scope() && b.memory_scope() && a.memory_scope() != b.memory_scope());
      EXPECT_EQ(!joined, conflict) << a.str() << ", " << b.str();
    }
  }
}

TEST(VirtualDeviceLaws, JoinIsAssociative) {
  const std::vector<VirtualDevice> all = Universe();
  for (const VirtualDevice& a : all) {
    for (const VirtualDevice& b : all) {
      const Maybe ab = VirtualDevice::Join(a, b);
      for (const VirtualDevice& c : all) {
        ASSERT_EQ(Join(ab, c), Join(a, VirtualDevice::Join(b, c))) << a.str() << ", " << b.str() << ", " << c.str();
      }
    }
  }
}

TEST(VirtualDeviceLaws, DefaultFillsOnlyWhatIsOpen) {
  const std::vector<VirtualDevice> all = Universe();
  for (const VirtualDevice& a : all) {
    EXPECT_EQ(VirtualDevice::Default(a, a), a);
    EXPECT_EQ(VirtualDevice::Default(a, VirtualDevice()), a);
    EXPECT_EQ(VirtualDevice::Default(VirtualDevice(), a), a);
    for (const VirtualDevice& b : all) {
      const VirtualDevice filled = VirtualDevice::Default(a, b);
      EXPECT_TRUE(Refines(filled, a)) << a.str() << ", " << b.str();
      EXPECT_EQ(VirtualDevice::Default(filled, b), filled);
      if (const Maybe joined = VirtualDevice::Join(a, b)) {
        EXPECT_EQ(filled, *joined);
      }
    }
  }
}

// Associative but where the middle value is of another device type than the left, and the right has a target: taken together,
// middle and right leave that target out; one after the other, it may fit.
TEST(VirtualDeviceLaws, DefaultIsAssociativeButForTargetsLeftOut) {
  const std::vector<VirtualDevice> all = Universe();
  int exceptions = 0;
  for (const VirtualDevice& a : all) {
    for (const VirtualDevice& b : all) {
      for (const VirtualDevice& c : all) {
        const VirtualDevice left = VirtualDevice::Default(VirtualDevice::Default(a, b), c);
        const VirtualDevice right = VirtualDevice::Default(a, VirtualDevice::Default(b, c));
        if (left == right) continue;
        ++exceptions;
        ASSERT_TRUE(a.device_type() && !a.target() && b.device_type() && b.device_type() != a.device_type() &&
                    c.target())
            << a.str() << ", " << b.str() << ", " << c.str();
      }
    }
  }
  EXPECT_GT(exceptions, 0);
}

TEST(VirtualDeviceLaws, EqualOnesHashAlikeAndAreOneObjectInACache) {
  const std::vector<VirtualDevice> all = Universe();
  const std::vector<VirtualDevice> again = Universe();
  VirtualDeviceCache cache;
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i], again[i]);
    EXPECT_EQ(all[i].Hash(), again[i].Hash());
    EXPECT_TRUE(cache.Unique(all[i]).SameAs(cache.Unique(again[i])));
    for (size_t j = 0; j < i; ++j) EXPECT_FALSE(all[i] == all[j]);
  }
  EXPECT_EQ(cache.size(), all.size());
}

}  // namespace
}  // namespace kernpack::sdk
