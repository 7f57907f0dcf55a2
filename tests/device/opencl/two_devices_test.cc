// Several devices in one process. CMakeLists.txt has PoCL make two of the CPU.
#include "fixture.h"

namespace kernpack_test {
namespace {

class OpenclTwoDevices : public OpenclTest {
 protected:
  void SetUp() override {
    OpenclTest::SetUp();
    if (api != nullptr && device.device_id < 1) GTEST_SKIP() << "PoCL is not the driver: it would make two devices";
    other = {KP_DEVICE_OPENCL, device.device_id - 1};
  }
  KpDLDevice other = {};
};

TEST_F(OpenclTwoDevices, AreListedByName) {
  std::string names[2];
  for (int i = 0; i < 2; ++i) {
    Value name;
    ASSERT_EQ(api->get_attr(api, i == 0 ? other : device, KP_ATTR_DEVICE_NAME, name.out()), 0) << TakeError();
    names[i] = Str(name.get());
  }
  EXPECT_LE(names[0], names[1]);
}

TEST_F(OpenclTwoDevices, MemoryBelongsToOne) {
  void* handle = Alloc(64);
  EXPECT_NE(Refusal(api->free(api, other, handle)).find("it is on opencl:"), std::string::npos);
  const KpMemory wrong = {handle, 0, other};
  EXPECT_NE(Refusal(api->fill(api, &wrong, 64, 0, nullptr)).find("isn't an allocation on opencl:"), std::string::npos);
  Free(handle);
}

TEST_F(OpenclTwoDevices, StreamsAndCodeBelongToOne) {
  void* stream = nullptr;
  ASSERT_EQ(api->stream_new(api, device, 0, &stream), 0) << TakeError();
  EXPECT_NE(Refusal(api->stream_sync(api, other, stream)).find("no stream of opencl:"), std::string::npos);
  EXPECT_EQ(api->stream_free(api, device, stream), 0) << TakeError();
  void* code = LoadSource(kScaleSource);
  void* kernel = nullptr;
  EXPECT_NE(Refusal(api->get_kernel(api, other, code, kp_bytes("scale"), &kernel)).find("no loaded code of opencl:"),
            std::string::npos);
  Unload(code);
}

TEST_F(OpenclTwoDevices, WorkOnBothAtTheSameTime) {
  void* handles[2] = {};
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(api->alloc(api, i == 0 ? other : device, 4096, 64, kp_bytes(""), &handles[i]), 0) << TakeError();
  }
  for (int i = 0; i < 2; ++i) {
    const KpMemory memory = {handles[i], 0, i == 0 ? other : device};
    ASSERT_EQ(api->fill(api, &memory, 4096, i + 1, nullptr), 0) << TakeError();
  }
  for (int i = 0; i < 2; ++i) {
    const KpMemory memory = {handles[i], 4000, i == 0 ? other : device};
    unsigned char byte = 0;
    const KpMemory here = Host(&byte);
    ASSERT_EQ(api->copy(api, &memory, &here, 1, nullptr), 0) << TakeError();
    EXPECT_EQ(byte, i + 1);
    EXPECT_EQ(api->free(api, memory.device, handles[i]), 0) << TakeError();
  }
}

}  // namespace
}  // namespace kernpack_test
