#include "fixture.h"

#include <numeric>

namespace kernpack_test {

const char kScaleSource[] = R"(
__kernel void scale(__global float* y, ulong y0, __global const float* x, ulong x0, float a, int n) {
  size_t i = get_global_id(0);
  if (i < n) y[y0 + i] = a * x[x0 + i];
}
)";

std::vector<float> Counting(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

void OpenclTest::SetUp() {
  ASSERT_EQ(kp_backend_load(OPENCL_PLUGIN), 0) << TakeError();
  int32_t count = 0;
  Value reason;
  ASSERT_EQ(kp_device_count(KP_DEVICE_OPENCL, &count, reason.out()), 0) << TakeError();
  if (count == 0) GTEST_SKIP() << "no OpenCL device: " << Str(reason.get());
  device.device_id = count - 1;
  ASSERT_EQ(kp_device_api(KP_DEVICE_OPENCL, &api), 0) << TakeError();
  HostTest::SetUp();
}

void* OpenclTest::Alloc(uint64_t bytes, const char* scope) {
  void* handle = nullptr;
  EXPECT_EQ(api->alloc(api, device, bytes, 64, kp_bytes(scope), &handle), 0) << TakeError();
  EXPECT_NE(handle, nullptr);
  return handle;
}

void* OpenclTest::Upload(const std::vector<float>& values, const char* scope) {
  void* handle = Alloc(values.size() * sizeof(float), scope);
  const KpMemory from = Host(values.data());
  const KpMemory to = At(handle);
  EXPECT_EQ(api->copy(api, &from, &to, values.size() * sizeof(float), nullptr), 0) << TakeError();
  return handle;
}

std::vector<float> OpenclTest::Download(void* handle, size_t count, uint64_t offset, void* stream) {
  std::vector<float> values(count, kPoison);
  const KpMemory from = At(handle, offset);
  const KpMemory to = Host(values.data());
  EXPECT_EQ(api->copy(api, &from, &to, count * sizeof(float), stream), 0) << TakeError();
  return values;
}

void* OpenclTest::LoadSource(std::string_view source, std::string_view options) {
  void* code = nullptr;
  EXPECT_EQ(api->load_code(api, device, {source.data(), source.size()}, kp_bytes("cl"),
                           {options.data(), options.size()}, &code),
            0)
      << TakeError();
  return code;
}

void* OpenclTest::Kernel(void* code, const char* name) {
  void* kernel = nullptr;
  EXPECT_EQ(api->get_kernel(api, device, code, kp_bytes(name), &kernel), 0) << TakeError();
  return kernel;
}

int OpenclTest::Launch(void* kernel, uint32_t grid, uint32_t block, const std::vector<KpKernelArg>& args,
                       void* stream) {
  KpLaunch launch = {};
  launch.struct_size = sizeof(launch);
  for (int d = 0; d < 3; ++d) {
    launch.grid[d] = d == 0 ? grid : 1;
    launch.block[d] = d == 0 || block == 0 ? block : 1;
  }
  launch.num_args = static_cast<int32_t>(args.size());
  launch.args = args.data();
  return api->launch(api, device, kernel, &launch, stream);
}

}  // namespace kernpack_test
