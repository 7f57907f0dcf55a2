// Code that the OpenCL tests share: the backend's table, and short names for its functions.
#ifndef KERNPACK_TESTS_DEVICE_OPENCL_FIXTURE_H_
#define KERNPACK_TESTS_DEVICE_OPENCL_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <kernpack/host/device.h>

#include "host/support.h"

namespace kernpack_test {

// On the last device, so that a run with several of them covers another than the first. Skips with the reason where there is
// none.
class OpenclTest : public HostTest {
 protected:
  void SetUp() override;

  static constexpr float kPoison = -1234.5F;

  KpMemory At(void* handle, uint64_t offset = 0) const { return {handle, offset, device}; }
  static KpMemory Host(const void* address) { return {const_cast<void*>(address), 0, {KP_DEVICE_CPU, 0}}; }

  // These fail the test when the service does.
  void* Alloc(uint64_t bytes, const char* scope = "");
  void Free(void* handle) { EXPECT_EQ(api->free(api, device, handle), 0) << TakeError(); }
  void* Upload(const std::vector<float>& values, const char* scope = "");
  std::vector<float> Download(void* handle, size_t count, uint64_t offset = 0, void* stream = nullptr);
  void* LoadSource(std::string_view source, std::string_view options = "");
  void Unload(void* code) { EXPECT_EQ(api->unload_code(api, device, code), 0) << TakeError(); }
  void* Kernel(void* code, const char* name);
  // The error of a service that must fail; "" when it did not.
  static std::string Refusal(int rc) { return rc == 0 ? "" : TakeError(); }

  static KpKernelArg MemoryArg(void* handle, uint64_t offset = 0, uint32_t element = sizeof(float)) {
    return {KP_ARG_MEMORY, element, handle, offset};
  }
  template <class T>
  static KpKernelArg ValueArg(const T& value) {
    return {KP_ARG_VALUE, sizeof(T), &value, 0};
  }
  static KpKernelArg LocalArg(uint32_t bytes) { return {KP_ARG_LOCAL, bytes, nullptr, 0}; }
  // One dimension: `grid` work-groups of `block` items; 0: as the device likes, and grid counts items.
  int Launch(void* kernel, uint32_t grid, uint32_t block, const std::vector<KpKernelArg>& args, void* stream = nullptr);

  const KpDeviceApi* api = nullptr;
  KpDLDevice device = {KP_DEVICE_OPENCL, 0};
};

std::vector<float> Counting(size_t count);

// scale(y, x, a, n): y = a * x
extern const char kScaleSource[];

}  // namespace kernpack_test

#endif  // KERNPACK_TESTS_DEVICE_OPENCL_FIXTURE_H_
