// Opening the driver: every way in which there is none is a reason, never an error.
#include <cstdlib>

#include "backends/cuda/driver.h"
#include "support.h"

namespace kernpack::cuda {
namespace {

std::string WhyNot(const char* path) {
  Driver driver;
  std::string reason;
  EXPECT_FALSE(OpenDriver(path, &driver, &reason));
  return reason;
}

class Open : public testing::Test {
 protected:
  void SetUp() override { kernpack_emulator_reset(); }
};

TEST_F(Open, FindsEveryEntry) {
  Driver driver;
  std::string reason;
  ASSERT_TRUE(OpenDriver(FAKE_DRIVER, &driver, &reason)) << reason;
  EXPECT_EQ(driver.version, 13050);
  EXPECT_NE(driver.cuFuncGetParamInfo, nullptr);
}

TEST_F(Open, AMissingLibrarySaysWhatToInstall) {
  const std::string reason = WhyNot("libcuda_that_is_not_there.so.1");
  EXPECT_SAYS(reason, "libcuda_that_is_not_there.so.1 could not be opened");
  EXPECT_SAYS(reason, "install NVIDIA's driver, or set KERNPACK_CUDA_DRIVER");
}

TEST_F(Open, AnotherLibraryNamesWhatItLacks) {
  EXPECT_SAYS(WhyNot("libm.so.6"), "libm.so.6 has no cuGetProcAddress_v2");
}

TEST_F(Open, ADriverWithoutTheLookupIsTooOld) {
  const std::string reason = WhyNot(FAKE_OLD_DRIVER);
  EXPECT_SAYS(reason, "supports CUDA 11.8; at least 12.0 is needed");
  EXPECT_SAYS(reason, "525.60");
}

TEST_F(Open, ADriverOfAnEarlierVersionIsRefused) {
  kernpack_emulator_set("driver_version", 11080);
  EXPECT_SAYS(WhyNot(FAKE_DRIVER), "supports CUDA 11.8; at least 12.0 is needed");
}

TEST_F(Open, EveryMissingSymbolIsNamed) {
  kernpack_emulator_hide("cuMemAllocFromPoolAsync");
  kernpack_emulator_hide("cuLaunchKernelEx");
  const std::string reason = WhyNot(FAKE_DRIVER);
  EXPECT_SAYS(reason, "(CUDA 13.5) lacks cuMemAllocFromPoolAsync, cuLaunchKernelEx;");
}

// Each entry in turn: none is used without being looked for.
TEST_F(Open, AnyMissingSymbolIsNamed){
#define KP_TEST_HIDE_(name, version, parameters) \
  kernpack_emulator_reset();                     \
  kernpack_emulator_hide(#name);                 \
  EXPECT_SAYS(WhyNot(FAKE_DRIVER), "lacks " #name ";");
    KP_CUDA_ENTRIES(KP_TEST_HIDE_)
#undef KP_TEST_HIDE_
}

TEST_F(Open, NewerEntriesAreOptional) {
  kernpack_emulator_set("driver_version", 12000);
  Driver driver;
  std::string reason;
  ASSERT_TRUE(OpenDriver(FAKE_DRIVER, &driver, &reason)) << reason;
  EXPECT_EQ(driver.cuFuncGetParamInfo, nullptr);
}

TEST_F(Open, NoDeviceIsAReason) {
  kernpack_emulator_set("devices", 0);
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const std::string hidden = WhyNot(FAKE_DRIVER);
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_SAYS(hidden, "CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected");
  EXPECT_SAYS(hidden, "CUDA_VISIBLE_DEVICES is ''");
  EXPECT_SAYS(WhyNot(FAKE_DRIVER), "`nvidia-smi` shows what the driver sees");
}

TEST_F(Open, AFailedInitSaysWhatToDo) {
  kernpack_emulator_fail("cuInit", kSystemDriverMismatch, 0, 1);
  EXPECT_SAYS(WhyNot(FAKE_DRIVER), "restart the machine after an update");
  kernpack_emulator_fail("cuInit", kStubLibrary, 0, 1);
  EXPECT_SAYS(WhyNot(FAKE_DRIVER), "the toolkit's stub");
  kernpack_emulator_fail("cuInit", kUnknown, 0, 1);
  EXPECT_SAYS(WhyNot(FAKE_DRIVER), "an error unknown to the driver (999)");
}

TEST_F(Open, AFailedListingIsAReason) {
  std::unique_ptr<Backend> backend;
  std::string reason;
  kernpack_emulator_fail("cuDeviceGetCount", kUnknown, 0, 1);
  EXPECT_FALSE(Backend::Open(kp_host(), FAKE_DRIVER, &backend, &reason));
  EXPECT_SAYS(reason, "cuDeviceGetCount failed");
  kernpack_emulator_fail("cuDeviceGet", kInvalidDevice, 1, 1);
  EXPECT_FALSE(Backend::Open(kp_host(), FAKE_DRIVER, &backend, &reason));
  EXPECT_SAYS(reason, "cuDeviceGet of device 1 failed with CUDA_ERROR_INVALID_DEVICE");
}

// Listing is cheap: contexts cost hundreds of megabytes.
TEST_F(Open, ListingMakesNoContext) {
  std::unique_ptr<Backend> backend;
  std::string reason;
  ASSERT_TRUE(Backend::Open(kp_host(), FAKE_DRIVER, &backend, &reason)) << reason;
  EXPECT_EQ(backend->count(), 2);
  EXPECT_EQ(kernpack_emulator_live("contexts"), 0);
}

TEST_F(Open, TheEnvironmentNamesTheLibrary) {
  EXPECT_EQ(DriverPath(), "libcuda.so.1");
  setenv("KERNPACK_EMULATOR", "sm_90", 1);
  EXPECT_SAYS(DriverPath(), "/libkernpack_cuda_emulator.so");
  unsetenv("KERNPACK_EMULATOR");
  setenv("KERNPACK_CUDA_DRIVER", "/somewhere/libcuda.so", 1);
  EXPECT_EQ(DriverPath(), "/somewhere/libcuda.so");
  unsetenv("KERNPACK_CUDA_DRIVER");
}

}  // namespace
}  // namespace kernpack::cuda
