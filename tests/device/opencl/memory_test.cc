// Allocation on OpenCL devices, and what is refused.
#include "fixture.h"

namespace kernpack_test {
namespace {

int64_t Allocated(const KpDeviceApi* api, KpDLDevice device) {
  Value bytes;
  EXPECT_EQ(api->get_property(api, device, kp_bytes("allocated_bytes"), bytes.out()), 0) << TakeError();
  return bytes->v.v_int;
}

TEST_F(OpenclTest, CountsWhatIsAllocated) {
  const int64_t before = Allocated(api, device);
  void* handle = Alloc(1000);
  EXPECT_EQ(Allocated(api, device), before + 1000);
  Free(handle);
  EXPECT_EQ(Allocated(api, device), before);
}

TEST_F(OpenclTest, AllocationsWithoutBytesAreHandlesToo) {
  void* handle = Alloc(0);
  const KpMemory there = At(handle);
  const KpMemory here = Host(nullptr);
  EXPECT_EQ(api->copy(api, &there, &here, 0, nullptr), 0);
  EXPECT_EQ(api->fill(api, &there, 0, 7, nullptr), 0);
  float value = 0;
  const KpMemory one = Host(&value);
  EXPECT_EQ(Refusal(api->copy(api, &there, &one, 4, nullptr)),
            "ValueError: copy: bytes 0 to 4 are outside the allocation of 0 bytes on opencl:" +
                std::to_string(device.device_id));
  Free(handle);
}

TEST_F(OpenclTest, NamesItsScopes) {
  EXPECT_STREQ(api->scopes[0], "global");
  EXPECT_STREQ(api->scopes[1], "constant");
  EXPECT_EQ(api->scopes[2], nullptr);
  void* handle = nullptr;
  EXPECT_EQ(Refusal(api->alloc(api, device, 64, 64, kp_bytes("texture"), &handle)),
            "ValueError: alloc: opencl has no memory scope 'texture'; expected 'global' (the default) or 'constant'");
}

TEST_F(OpenclTest, MoreThanTheDeviceHasIsAMemoryError) {
  void* handle = nullptr;
  const std::string refusal = Refusal(api->alloc(api, device, uint64_t{1} << 60, 64, kp_bytes(""), &handle));
  EXPECT_EQ(refusal.find("MemoryError: alloc: 1152921504606846976 bytes on opencl:"), 0U) << refusal;
  EXPECT_NE(refusal.find("allocates at most"), std::string::npos) << refusal;
}

TEST_F(OpenclTest, RefusesAlignmentsAboveTheDevices) {
  void* handle = nullptr;
  const std::string refusal = Refusal(api->alloc(api, device, 64, 1 << 20, kp_bytes(""), &handle));
  EXPECT_EQ(refusal.find("ValueError: alloc: alignment: expected"), 0U) << refusal;
  EXPECT_EQ(api->alloc(api, device, 64, api->max_alignment, kp_bytes(""), &handle), 0) << TakeError();
  Free(handle);
}

TEST_F(OpenclTest, RefusesHandlesThatAreNotItsOwn) {
  void* handle = Alloc(64);
  Free(handle);
  const std::string freed = Refusal(api->free(api, device, handle));
  EXPECT_NE(freed.find("isn't an allocation on opencl:"), std::string::npos) << freed;
  int here = 0;
  const KpMemory stranger = At(&here);
  const std::string strange = Refusal(api->fill(api, &stranger, 4, 0, nullptr));
  EXPECT_NE(strange.find("it was freed, or not allocated here"), std::string::npos) << strange;
  EXPECT_EQ(api->free(api, device, nullptr), 0);
}

TEST_F(OpenclTest, RefusesRangesOutsideAnAllocation) {
  void* handle = Alloc(64);
  std::vector<float> values(32);
  const KpMemory here = Host(values.data());
  for (const auto& [offset, bytes] : {std::pair<uint64_t, uint64_t>{0, 68}, {64, 4}, {128, 4}, {UINT64_MAX, 4}}) {
    const KpMemory there = At(handle, offset);
    EXPECT_NE(Refusal(api->copy(api, &here, &there, bytes, nullptr)).find("outside the allocation of 64 bytes"),
              std::string::npos);
    EXPECT_NE(Refusal(api->copy(api, &there, &here, bytes, nullptr)).find("outside the allocation"), std::string::npos);
    EXPECT_NE(Refusal(api->fill(api, &there, bytes, 0, nullptr)).find("outside the allocation"), std::string::npos);
  }
  Free(handle);
}

TEST_F(OpenclTest, FreesMemoryThatQueuedWorkUses) {
  void* code = LoadSource(kScaleSource);
  void* x = Upload(Counting(1 << 16));
  void* y = Alloc(sizeof(float) << 16);
  const float a = 2;
  const int n = 1 << 16;
  ASSERT_EQ(Launch(Kernel(code, "scale"), 1 << 16, 0, {MemoryArg(y), MemoryArg(x), ValueArg(a), ValueArg(n)}), 0)
      << TakeError();
  Free(x);
  EXPECT_EQ(Download(y, 1 << 16).back(), 131072.0F);
  Free(y);
  Unload(code);
}

}  // namespace
}  // namespace kernpack_test
