// Machines without OpenCL: a reason, never an error until a device is asked for. CMakeLists.txt runs each with the environment
// that makes it so.
#include <gtest/gtest.h>

#include <kernpack/host/device.h>

#include "host/support.h"

namespace kernpack_test {
namespace {

// Why there is no device.
std::string Reason() {
  EXPECT_EQ(kp_backend_load(OPENCL_PLUGIN), 0) << TakeError();
  int32_t count = -1;
  Value reason;
  EXPECT_EQ(kp_device_count(KP_DEVICE_OPENCL, &count, reason.out()), 0) << TakeError();
  EXPECT_EQ(count, 0);
  const KpDeviceApi* api = nullptr;
  EXPECT_EQ(kp_device_api(KP_DEVICE_OPENCL, &api), -1);
  const std::string text = Str(reason.get());
  const std::string error = TakeError();
  EXPECT_NE(error.find(text), std::string::npos) << error;
  return text;
}

TEST(OpenclAbsent, WithoutALibraryTheReasonSaysWhatToInstall) {
  const std::string reason = Reason();
  EXPECT_NE(reason.find("/nowhere/libOpenCL.so"), std::string::npos) << reason;
  EXPECT_NE(reason.find("install an OpenCL loader"), std::string::npos) << reason;
}

TEST(OpenclAbsent, WithoutAnEntryPointTheReasonNamesIt) {
  const std::string reason = Reason();
  EXPECT_NE(reason.find(" has no cl"), std::string::npos) << reason;
  EXPECT_NE(reason.find("a loader for OpenCL 1.2 or later is needed"), std::string::npos) << reason;
}

TEST(OpenclAbsent, WithoutADriverTheReasonSaysSo) {
  const std::string reason = Reason();
  EXPECT_EQ(reason.find("no OpenCL driver is installed"), 0U) << reason;
}

}  // namespace
}  // namespace kernpack_test
