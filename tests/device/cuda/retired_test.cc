// Freed memory that isn't given to the driver yet: when it is, and what happens if it can't be.
#include <cstdlib>
#include <thread>
#include <vector>

#include "backends/cuda/memory.h"
#include "kernels_ptx.h"
#include "support.h"

namespace kernpack::cuda {
namespace {

// May keep 1 MiB of the 256 that the device has.
class RetiredMemoryTest : public FakeDriver {
 protected:
  void Configure() override { setenv("KERNPACK_CUDA_FREED_MIB", "1", 1); }
  void TearDown() override {
    Trim();
    unsetenv("KERNPACK_CUDA_FREED_MIB");
    FakeDriver::TearDown();
  }
  void Trim() { EXPECT_EQ(cuda_.trim(&cuda_, Cuda()), 0) << TakeError(); }
  static int64_t Frees() { return kernpack_emulator_calls("cuMemFree"); }
  int64_t FreeBytes() {
    KpAny value = kp_none();
    EXPECT_EQ(cuda_.get_attr(&cuda_, Cuda(), KP_ATTR_AVAILABLE_GLOBAL_MEMORY, &value), 0) << TakeError();
    return value.v.v_int;
  }
};

TEST_F(RetiredMemoryTest, FreeingLeavesQueuedWorkQueued) {
  void* code = Load(Ptx("sm_90", {"kp_test_scale"}));
  void* kernel = GetKernel(code, "kp_test_scale");
  void* stream = NewStream();
  void* handle = Alloc(16);
  void* kept = Alloc(16);
  Upload(handle, {1, 2, 3, 4}, stream);
  ASSERT_EQ(Scale(kernel, handle, 2, 4, stream), 0) << TakeError();
  ASSERT_EQ(Copy(On(Cuda(), handle), On(Cuda(), kept), 16, stream), 0) << TakeError();
  Free(handle);
  EXPECT_EQ(Frees(), 0);
  EXPECT_EQ(Download(kept, 4, stream), (std::vector<float>{2, 4, 6, 8}));
  Free(kept);
  FreeStream(stream);
  Unload(code);
}

TEST_F(RetiredMemoryTest, WhatIsMoreThanTheLimitGoesBackTogether) {
  std::vector<void*> handles;
  for (int i = 0; i < 5; ++i) handles.push_back(Alloc(256 << 10));
  for (int i = 0; i < 4; ++i) Free(handles[static_cast<size_t>(i)]);
  EXPECT_EQ(Frees(), 0);
  Free(handles[4]);
  EXPECT_EQ(Frees(), 5);
  Free(Alloc(2 << 20));  // more than the limit by itself
  EXPECT_EQ(Frees(), 6);
}

TEST_F(RetiredMemoryTest, ManySmallBlocksGoBackToo) {
  std::vector<void*> handles;
  for (int i = 0; i < 1025; ++i) handles.push_back(Alloc(8));
  for (void* handle : handles) {
    EXPECT_EQ(Frees(), 0);
    Free(handle);
  }
  EXPECT_EQ(Frees(), 1025);
}

TEST_F(RetiredMemoryTest, EveryKindGoesBackTheWayItCame) {
  Free(Alloc(100, Cuda(), "managed"));
  Free(Alloc(100, Cuda(), "host"));
  EXPECT_EQ(Frees() + kernpack_emulator_calls("cuMemFreeHost"), 0);
  Trim();
  EXPECT_EQ(Frees(), 1);
  EXPECT_EQ(kernpack_emulator_calls("cuMemFreeHost"), 1);
}

TEST_F(RetiredMemoryTest, CountsAsFree) {
  const int64_t before = FreeBytes();
  void* handle = Alloc(512 << 10);
  EXPECT_LT(FreeBytes(), before);
  Free(handle);
  EXPECT_EQ(Frees(), 0);
  EXPECT_EQ(FreeBytes(), before);
}

TEST_F(RetiredMemoryTest, FreedTwiceIsRefused) {
  void* handle = Alloc(8);
  Free(handle);
  EXPECT_EQ(cuda_.free(&cuda_, Cuda(), handle), -1);
  EXPECT_SAYS(TakeError(), "which it did not or which is freed already");
}

TEST_F(RetiredMemoryTest, WhatTheDriverRefusesIsTriedAgain) {
  Free(Alloc(8));
  Free(Alloc(16));
  kernpack_emulator_fail("cuMemFree", kUnknown, 0, 1);
  EXPECT_EQ(cuda_.trim(&cuda_, Cuda()), -1);
  EXPECT_SAYS(TakeError(), "cuMemFree failed with an error unknown to the driver (999)");
  const int64_t refused = Frees();
  Trim();
  EXPECT_EQ(Frees(), refused + 2);
}

TEST_F(RetiredMemoryTest, IsForgottenWhenTheDeviceIsGone) {
  Free(Alloc(8));
  kernpack_emulator_fail("cuMemFree", kContextIsDestroyed, 0, 1);
  Trim();
  const int64_t once = Frees();
  Trim();
  EXPECT_EQ(Frees(), once);
}

TEST_F(RetiredMemoryTest, ThreadsFreeAtTheSameTime) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j) Free(Alloc(64 << 10));
    });
  }
  for (std::thread& thread : threads) thread.join();
  Trim();
  EXPECT_EQ(Frees(), 200);
}

// May keep more than half of the device.
class MuchRetiredMemory : public RetiredMemoryTest {
 protected:
  void Configure() override { setenv("KERNPACK_CUDA_FREED_MIB", "200", 1); }
};

TEST_F(MuchRetiredMemory, IsThereForTheNextAllocation) {
  Free(Alloc(180 << 20));
  EXPECT_EQ(Frees(), 0);
  Free(Alloc(180 << 20));
  EXPECT_EQ(Frees(), 1);
  void* stream = NewStream();
  void* handle = nullptr;
  ASSERT_EQ(cuda_.alloc_async(&cuda_, Cuda(), 180 << 20, 64, stream, &handle), 0) << TakeError();
  EXPECT_EQ(Frees(), 2);
  EXPECT_EQ(cuda_.free_async(&cuda_, Cuda(), handle, stream), 0);
  FreeStream(stream);
}

TEST_F(MuchRetiredMemory, TooMuchIsStillTooMuch) {
  Free(Alloc(180 << 20));
  void* handle = nullptr;
  EXPECT_EQ(cuda_.alloc(&cuda_, Cuda(), uint64_t{1} << 40, 64, B(""), &handle), -1);
  EXPECT_SAYS(TakeError(), "allocating 1099511627776 bytes of device memory (268435456 of 268435456 bytes are free)");
}

TEST(RetiredLimit, IsRefusedUnlessItIsANumber) {
  for (const char* value : {"many", "-1", "1.5", "64M", "16777217", "99999999999999999999"}) {
    setenv("KERNPACK_CUDA_FREED_MIB", value, 1);
    std::unique_ptr<Backend> backend;
    std::string reason;
    EXPECT_FALSE(Backend::Open(kp_host(), FAKE_DRIVER, &backend, &reason)) << value;
    EXPECT_EQ(reason, "expected KERNPACK_CUDA_FREED_MIB to be a whole number of MiB from 0 to 16777216, got '" +
                          std::string(value) + "'");
  }
  unsetenv("KERNPACK_CUDA_FREED_MIB");
}

}  // namespace
}  // namespace kernpack::cuda
