// Memory: scopes, out of memory, what is freed wrongly, the pool.
#include <cstring>

#include "backends/cuda/memory.h"
#include "support.h"

namespace kernpack::cuda {
namespace {

using Memory = FakeDriver;

TEST_F(Memory, ScopesAreHonoured) {
  void* global = Alloc(100, Cuda(), "global");
  void* managed = Alloc(100, Cuda(), "managed");
  void* host = Alloc(100, Cuda(), "host");
  EXPECT_EQ(kernpack_emulator_calls("cuMemAlloc"), 1);
  EXPECT_EQ(kernpack_emulator_calls("cuMemAllocManaged"), 1);
  EXPECT_EQ(kernpack_emulator_calls("cuMemHostAlloc"), 1);
  std::memset(managed, 1, 100);  // the CPU reaches both
  std::memset(host, 1, 100);
  for (void* handle : {global, managed, host}) Free(handle);
  EXPECT_EQ(kernpack_emulator_calls("cuMemFree"), 2);
  EXPECT_EQ(kernpack_emulator_calls("cuMemFreeHost"), 1);
}

TEST_F(Memory, DeviceTypesHaveTheirOwnDefault) {
  const KpDLDevice pinned{KP_DEVICE_CUDA_HOST, 1};
  const KpDLDevice managed{KP_DEVICE_CUDA_MANAGED, 0};
  void* a = Alloc(64, pinned);
  void* b = Alloc(64, managed, "global");
  EXPECT_EQ(kernpack_emulator_live("pinned"), 1);
  EXPECT_EQ(kernpack_emulator_calls("cuMemAllocManaged"), 1);
  Free(a, pinned);
  Free(b, managed);
}

TEST_F(Memory, UnknownScopeListsThem) {
  void* handle = nullptr;
  EXPECT_EQ(cuda_.alloc(&cuda_, Cuda(), 8, 64, B("texture"), &handle), -1);
  EXPECT_EQ(TakeError(), "ValueError: cuda:0: expected the memory scope global, managed or host, got 'texture'");
  EXPECT_EQ(pinned_.alloc(&pinned_, {KP_DEVICE_CUDA_HOST, 0}, 8, 64, B("managed"), &handle), -1);
  EXPECT_SAYS(TakeError(), "expected the memory scope global, got 'managed'");
}

TEST_F(Memory, TooMuchAlignmentIsRefused) {
  void* handle = nullptr;
  EXPECT_EQ(cuda_.alloc(&cuda_, Cuda(), 8, 512, B(""), &handle), -1);
  EXPECT_SAYS(TakeError(), "expected an alignment of at most 256 bytes, got 512");
}

TEST_F(Memory, OutOfMemorySaysHowMuchThereIs) {
  void* handle = nullptr;
  EXPECT_EQ(cuda_.alloc(&cuda_, Cuda(), uint64_t{1} << 40, 64, B(""), &handle), -1);
  const std::string error = TakeError();
  EXPECT_SAYS(error, "MemoryError: cuda:0: cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY (2): out of memory, while");
  EXPECT_SAYS(error, "allocating 1099511627776 bytes of device memory (268435456 of 268435456 bytes are free)");
  EXPECT_EQ(cuda_.alloc_async(&cuda_, Cuda(), uint64_t{1} << 40, 64, nullptr, &handle), -1);
  EXPECT_SAYS(TakeError(), "MemoryError: cuda:0: cuMemAllocFromPoolAsync failed");
  kernpack_emulator_fail("cuMemHostAlloc", kOutOfMemory, 0, 1);
  EXPECT_EQ(pinned_.alloc(&pinned_, {KP_DEVICE_CUDA_HOST, 0}, 8, 64, B(""), &handle), -1);
  EXPECT_SAYS(TakeError(), "MemoryError: cuda:0: cuMemHostAlloc");
}

TEST_F(Memory, ComesFromTheRightDevice) {
  void* big = Alloc(200 << 20, Cuda(1));
  KpAny free_bytes = kp_none();
  EXPECT_EQ(cuda_.get_attr(&cuda_, Cuda(1), KP_ATTR_AVAILABLE_GLOBAL_MEMORY, &free_bytes), 0);
  EXPECT_EQ(free_bytes.v.v_int, 56 << 20);
  EXPECT_EQ(cuda_.get_attr(&cuda_, Cuda(0), KP_ATTR_AVAILABLE_GLOBAL_MEMORY, &free_bytes), 0);
  EXPECT_EQ(free_bytes.v.v_int, 256 << 20);
  Free(big, Cuda(1));
}

TEST_F(Memory, FreedTwiceOrElsewhereIsRefused) {
  void* handle = Alloc(8);
  EXPECT_EQ(cuda_.free(&cuda_, Cuda(1), handle), -1);
  EXPECT_SAYS(TakeError(), "is memory of cuda:0; free it there");
  Free(handle);
  EXPECT_EQ(cuda_.free(&cuda_, Cuda(), handle), -1);
  EXPECT_SAYS(TakeError(), "which it did not or which is freed already");
  int mine = 0;
  EXPECT_EQ(cuda_.free(&cuda_, Cuda(), &mine), -1);
  EXPECT_SAYS(TakeError(), "ValueError: cuda:0: expected memory that this backend allocated");
  Free(nullptr);
}

TEST_F(Memory, WhatTheDriverKeepsCanBeFreedAgain) {
  void* handle = Alloc(8);
  kernpack_emulator_fail("cuMemFree", kUnknown, 0, 1);
  EXPECT_EQ(cuda_.free(&cuda_, Cuda(), handle), -1);
  EXPECT_SAYS(TakeError(), "cuMemFree failed with an error unknown to the driver (999)");
  Free(handle);
}

// The fake fails whoever touches pool memory before its allocation or after its release, in the order of the streams.
TEST_F(Memory, InStreamOrderIsReadyForTheStream) {
  void* stream = NewStream();
  void* handle = nullptr;
  ASSERT_EQ(cuda_.alloc_async(&cuda_, Cuda(), 16, 64, stream, &handle), 0);
  Upload(handle, {1, 2, 3, 4}, stream);
  EXPECT_EQ(Download(handle, 4, stream), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(cuda_.free(&cuda_, Cuda(), handle), -1);
  EXPECT_SAYS(TakeError(), "free it with free_async, on that stream");
  EXPECT_EQ(cuda_.free_async(&cuda_, Cuda(), handle, stream), 0);
  EXPECT_EQ(kernpack_emulator_live("pool"), 1) << "released at once, not in the order of the stream";
  Sync(stream);
  EXPECT_EQ(kernpack_emulator_live("pool"), 0);
  FreeStream(stream);
}

TEST_F(Memory, ThePoolKeepsAndTrims) {
  void* handle = nullptr;
  ASSERT_EQ(cuda_.alloc_async(&cuda_, Cuda(), 1 << 20, 64, nullptr, &handle), 0);
  const auto property = [&](const char* name) {
    KpAny value = kp_none();
    EXPECT_EQ(cuda_.get_property(&cuda_, Cuda(), B(name), &value), 0) << TakeError();
    return value.v.v_int;
  };
  EXPECT_EQ(property("pool_used_bytes"), 1 << 20);
  ASSERT_EQ(cuda_.free_async(&cuda_, Cuda(), handle, nullptr), 0);
  Sync();
  EXPECT_EQ(property("pool_used_bytes"), 0);
  EXPECT_EQ(property("pool_reserved_bytes"), 1 << 20);
  ASSERT_EQ(cuda_.trim(&cuda_, Cuda()), 0);
  EXPECT_EQ(property("pool_reserved_bytes"), 0);
}

TEST_F(Memory, APoolThatCannotBeMadeIsMadeLater) {
  void* handle = nullptr;
  kernpack_emulator_fail("cuMemPoolCreate", kOutOfMemory, 0, 1);
  EXPECT_EQ(cuda_.alloc_async(&cuda_, Cuda(), 16, 64, nullptr, &handle), -1);
  EXPECT_SAYS(TakeError(), "while making a memory pool");
  ASSERT_EQ(cuda_.alloc_async(&cuda_, Cuda(), 16, 64, nullptr, &handle), 0) << TakeError();
  ASSERT_EQ(cuda_.free_async(&cuda_, Cuda(), handle, nullptr), 0);
}

class WithoutPools : public FakeDriver {
  void Configure() override { kernpack_emulator_set("pools", 0); }
};

TEST_F(WithoutPools, PlainMemoryServes) {
  void* stream = NewStream();
  void* handle = nullptr;
  ASSERT_EQ(cuda_.alloc_async(&cuda_, Cuda(), 16, 64, stream, &handle), 0) << TakeError();
  EXPECT_EQ(kernpack_emulator_calls("cuMemAlloc"), 1);
  Upload(handle, {1, 2, 3, 4}, stream);
  ASSERT_EQ(cuda_.free_async(&cuda_, Cuda(), handle, stream), 0) << TakeError();
  EXPECT_EQ(kernpack_emulator_live("memory"), 0);
  EXPECT_EQ(kernpack_emulator_live("work"), 0) << "plain memory was freed under work that uses it";
  EXPECT_EQ(cuda_.trim(&cuda_, Cuda()), 0);
  FreeStream(stream);
}

class WithoutManagedMemory : public FakeDriver {
  void Configure() override { kernpack_emulator_set("managed", 0); }
};

TEST_F(WithoutManagedMemory, IsRefused) {
  void* handle = nullptr;
  EXPECT_EQ(managed_.alloc(&managed_, {KP_DEVICE_CUDA_MANAGED, 0}, 8, 64, B(""), &handle), -1);
  EXPECT_SAYS(TakeError(), "the device has no managed memory; use scope 'global', or 'host'");
}

}  // namespace
}  // namespace kernpack::cuda
