// Which target compiles what.
#include <kernpack/sdk/compilation_config.h>

#include <gtest/gtest.h>

#include "support.h"

namespace kernpack::sdk {
namespace {

KP_REGISTER_TARGET_KIND(config_test_external, KP_DEVICE_CUDA).set_attr<bool>("is_external_codegen", true);

using Targets = std::vector<Target>;

TEST(CompilationConfig, TheFirstNamedHostIsEveryTargets) {
  const CompilationConfig config(Targets{Target("cuda -host='llvm -mcpu=x86-64-v3'"), Target("opencl -host=c")},
                                 KP_DEVICE_CUDA);
  EXPECT_EQ(config.host_target(), Target("llvm -mcpu=x86-64-v3"));
  EXPECT_EQ(config.primitive_targets()[1], Target("opencl -host='llvm -mcpu=x86-64-v3'"));
  EXPECT_EQ(config.host_virtual_device().virtual_device_id(), 0);
}

TEST(CompilationConfig, WithoutAHostTheCpuTargetIsTheHost) {
  const CompilationConfig config(Targets{Target("cuda"), Target("c -num-cores=4")});
  EXPECT_EQ(config.host_target(), Target("c -num-cores=4"));
  EXPECT_EQ(config.default_primitive_device_type(), KP_DEVICE_CPU);
  EXPECT_FALSE(config.optional_homogeneous_target());
}

TEST(CompilationConfig, WithoutACpuTargetTheHostIsLlvm) {
  const CompilationConfig config(Targets{Target("cuda")});
  EXPECT_EQ(config.host_target(), Target("llvm"));
  EXPECT_EQ(config.default_primitive_device_type(), KP_DEVICE_CUDA);
  EXPECT_EQ(config.optional_homogeneous_target(), Target("cuda -host=llvm"));
  const VirtualDevice expected({KP_DEVICE_CUDA, 0, Target("cuda -host=llvm"), std::nullopt});
  EXPECT_EQ(config.default_primitive_virtual_device(), expected);
}

TEST(CompilationConfig, TheDefaultTypeNeedsATarget) {
  const Targets targets{Target("llvm"), Target("cuda")};
  EXPECT_EQ(CompilationConfig(targets).default_primitive_device_type(), KP_DEVICE_CPU);
  EXPECT_EQ(CompilationConfig(targets, KP_DEVICE_CUDA).default_primitive_device_type(), KP_DEVICE_CUDA);
  EXPECT_ERROR(CompilationConfig(targets, KP_DEVICE_OPENCL), "ValueError",
               "no target is for device type opencl; there are targets for: cpu (llvm), cuda (cuda)");
  EXPECT_ERROR(CompilationConfig(Targets{Target("cuda"), Target("opencl")}), "ValueError", "device type cpu");
}

TEST(CompilationConfig, RefusesTwoTargetsOfAKindOrDevice) {
  EXPECT_ERROR(CompilationConfig(Targets{}), "ValueError", "at least one target");
  EXPECT_ERROR(CompilationConfig(Targets{Target("cuda"), Target("cuda -arch=sm_90")}), "ValueError",
               "two targets are of kind 'cuda'");
  EXPECT_ERROR(CompilationConfig(Targets{Target("llvm"), Target("c")}), "ValueError", "are both for cpu");
  EXPECT_ERROR(CompilationConfig(Targets{Target("config_test_external"), Target("cuda")}), "ValueError",
               "are both for cuda");
  const CompilationConfig config(Targets{Target("cuda"), Target("config_test_external")});
  EXPECT_EQ(config.FindPrimitiveTargetForDeviceType(KP_DEVICE_CUDA).kind().name(), "cuda");
  EXPECT_TRUE(config.FindPrimitiveTargetForKind("config_test_external"));
  EXPECT_FALSE(config.FindPrimitiveTargetForKind("opencl"));
}

TEST(CompilationConfig, ExternalGeneratorsAreForTheirDeviceOnly) {
  const Target ordinary("cuda");
  const Target external("config_test_external");
  EXPECT_TRUE(IsExternalCodegenFor(external, ordinary));
  EXPECT_FALSE(IsExternalCodegenFor(ordinary, external));
  EXPECT_FALSE(IsExternalCodegenFor(external, Target("llvm")));
}

TEST(CompilationConfig, CanonicalDevicesOfOneTargetAreOneObject) {
  CompilationConfig config(Targets{Target("llvm -mcpu=x86-64-v3"), Target("cuda -arch=sm_90")});
  const VirtualDevice by_type = config.CanonicalVirtualDevice(VirtualDevice::ForDeviceType(KP_DEVICE_CUDA, 0));
  EXPECT_EQ(by_type.target(), config.primitive_targets()[1]);
  const VirtualDevice by_target =
      config.CanonicalVirtualDevice(VirtualDevice::ForDeviceAndTarget({KP_DEVICE_CUDA, 0}, Target("cuda -arch=sm_90")));
  EXPECT_TRUE(by_type.SameAs(by_target));
  EXPECT_TRUE(config.CanonicalVirtualDevice(by_type).SameAs(by_type));
  EXPECT_TRUE(config.CanonicalVirtualDevice(VirtualDevice()).IsFullyUnconstrained());
  const VirtualDevice scope = config.CanonicalVirtualDevice(VirtualDevice::ForMemoryScope("global"));
  EXPECT_FALSE(scope.device_type());
  EXPECT_EQ(config.CanonicalTarget(Target("opencl")), Target("opencl"));
  EXPECT_ERROR(config.CanonicalVirtualDevice(VirtualDevice::ForDeviceType(KP_DEVICE_OPENCL)), "ValueError",
               "no target is for device type opencl");
}

TEST(CompilationConfig, ItsOwnTargetsMakeItAgain) {
  const CompilationConfig config(Targets{Target("cuda"), Target("llvm -mcpu=x86-64-v2")});
  const CompilationConfig again(config.primitive_targets());
  EXPECT_EQ(again.host_target(), config.host_target());
  EXPECT_EQ(again.primitive_targets(), config.primitive_targets());
  EXPECT_EQ(again.default_primitive_virtual_device(), config.default_primitive_virtual_device());
}

}  // namespace
}  // namespace kernpack::sdk
