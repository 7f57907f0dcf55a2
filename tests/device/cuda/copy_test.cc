// Copies: what may be reused when, between devices, of boxes.
#include <cstring>
#include <numeric>

#include "support.h"

namespace kernpack::cuda {
namespace {

using Copies = FakeDriver;
constexpr KpDLDevice kPinned{KP_DEVICE_CUDA_HOST, 0};

// The rule: host memory is free for reuse when a copy returns. The fake reads pinned memory as late as a GPU may.
TEST_F(Copies, PinnedMemoryIsFreeOnReturn) {
  void* stream = NewStream();
  for (const size_t count : {size_t{4}, size_t{100000}}) {  // copied aside, and waited for
    auto* pinned = static_cast<float*>(Alloc(count * 4, kPinned));
    void* device = Alloc(count * 4);
    std::fill_n(pinned, count, 1.0F);
    ASSERT_EQ(Copy(On(kPinned, pinned), On(Cuda(), device), count * 4, stream), 0) << TakeError();
    std::fill_n(pinned, count, 2.0F);
    EXPECT_EQ(Download(device, count, stream), std::vector<float>(count, 1.0F));
    Free(device);
    Free(pinned, kPinned);
  }
  FreeStream(stream);
}

// Memory that another framework pinned comes as CPU memory.
TEST_F(Copies, PinnedMemoryIsKnownWhoeverMadeIt) {
  auto* pinned = static_cast<float*>(Alloc(16, kPinned));
  void* device = Alloc(16);
  void* stream = NewStream();
  std::fill_n(pinned, 4, 1.0F);
  ASSERT_EQ(Copy(Host(pinned), On(Cuda(), device), 16, stream), 0) << TakeError();
  std::fill_n(pinned, 4, 2.0F);
  EXPECT_EQ(Download(device, 4, stream), std::vector<float>(4, 1.0F));
  FreeStream(stream);
  Free(device);
  Free(pinned, kPinned);
}

TEST_F(Copies, SmallPinnedCopiesDoNotWait) {
  auto* pinned = static_cast<float*>(Alloc(16, kPinned));
  void* device = Alloc(16);
  void* stream = NewStream();
  ASSERT_EQ(Copy(On(kPinned, pinned), On(Cuda(), device), 16, stream), 0);
  EXPECT_EQ(kernpack_emulator_live("work"), 1);
  EXPECT_EQ(kernpack_emulator_calls("cuStreamSynchronize"), 0);
  Sync(stream);
  FreeStream(stream);
  Free(device);
  Free(pinned, kPinned);
}

TEST_F(Copies, ToHostReturnsWhenItHasLanded) {
  auto* pinned = static_cast<float*>(Alloc(16, kPinned));
  void* device = Alloc(16);
  void* stream = NewStream();
  Upload(device, {1, 2, 3, 4}, stream);
  ASSERT_EQ(Copy(On(Cuda(), device), On(kPinned, pinned), 16, stream), 0) << TakeError();
  EXPECT_EQ(pinned[3], 4.0F);
  FreeStream(stream);
  Free(device);
  Free(pinned, kPinned);
}

TEST_F(Copies, WithinADeviceIsQueued) {
  void* a = Alloc(16);
  void* b = Alloc(32);
  void* stream = NewStream();
  Upload(a, {1, 2, 3, 4}, stream);
  ASSERT_EQ(Copy(On(Cuda(), a, 4), On(Cuda(), b, 16), 8, stream), 0);
  EXPECT_GT(kernpack_emulator_live("work"), 0);
  std::vector<float> landed(2);
  ASSERT_EQ(Copy(On(Cuda(), b, 16), Host(landed.data()), 8, stream), 0);
  EXPECT_EQ(landed, (std::vector<float>{2, 3}));
  FreeStream(stream);
  Free(a);
  Free(b);
}

TEST_F(Copies, BetweenDevicesEnablesPeersOnce) {
  void* a = Alloc(16, Cuda(0));
  void* b = Alloc(16, Cuda(1));
  Upload(a, {1, 2, 3, 4});
  for (int i = 0; i < 3; ++i) ASSERT_EQ(Copy(On(Cuda(0), a), On(Cuda(1), b), 16), 0) << TakeError();
  EXPECT_EQ(kernpack_emulator_calls("cuCtxEnablePeerAccess"), 1);
  EXPECT_EQ(kernpack_emulator_calls("cuMemcpyPeerAsync"), 3);
  Sync();
  EXPECT_EQ(Download(b, 4, nullptr, 1), (std::vector<float>{1, 2, 3, 4}));
  int32_t can = 0;
  EXPECT_EQ(cuda_.can_copy(&cuda_, Cuda(0), Cuda(1), &can), 0);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cuda_.can_copy(&cuda_, Cuda(0), {KP_DEVICE_OPENCL, 0}, &can), 0);
  EXPECT_EQ(can, 0);
  Free(a, Cuda(0));
  Free(b, Cuda(1));
}

class WithoutPeers : public FakeDriver {
  void Configure() override { kernpack_emulator_set("peers", 0); }
};

TEST_F(WithoutPeers, TheDriverStages) {
  void* a = Alloc(16, Cuda(0));
  void* b = Alloc(16, Cuda(1));
  Upload(a, {1, 2, 3, 4});
  ASSERT_EQ(Copy(On(Cuda(0), a), On(Cuda(1), b), 16), 0) << TakeError();
  EXPECT_EQ(kernpack_emulator_calls("cuCtxEnablePeerAccess"), 0);
  Sync();
  EXPECT_EQ(Download(b, 4, nullptr, 1), (std::vector<float>{1, 2, 3, 4}));
  Free(a, Cuda(0));
  Free(b, Cuda(1));
}

TEST_F(Copies, AnEventOfALaterCopyTellsWhenItIsDone) {
  auto* pinned = static_cast<float*>(Alloc(16, kPinned));
  void* device = Alloc(16);
  void* stream = NewStream();
  Upload(device, {1, 2, 3, 4}, stream);
  const KpMemory from = On(Cuda(), device);
  const KpMemory to = On(kPinned, pinned);
  pinned[3] = 0;
  void* event = nullptr;
  ASSERT_EQ(cuda_.copy_async(&cuda_, &from, &to, 16, stream, &event), 0) << TakeError();
  int32_t done = 1;
  EXPECT_EQ(cuda_.event_query(&cuda_, Cuda(), event, &done), 0);
  EXPECT_EQ(done, 0);
  EXPECT_EQ(pinned[3], 0.0F) << "it waited";
  EXPECT_EQ(cuda_.event_sync(&cuda_, Cuda(), event), 0);
  EXPECT_EQ(pinned[3], 4.0F);
  EXPECT_EQ(cuda_.event_free(&cuda_, Cuda(), event), 0);
  FreeStream(stream);
  Free(device);
  Free(pinned, kPinned);
}

TEST_F(Copies, AFailedLaterCopyLeavesNoEvent) {
  void* device = Alloc(16);
  const KpMemory from = On(Cuda(), device);
  const KpMemory to = On(Cuda(), device, 8);
  void* event = nullptr;
  kernpack_emulator_fail("cuEventRecord", kUnknown, 0, 1);
  EXPECT_EQ(cuda_.copy_async(&cuda_, &from, &to, 8, nullptr, &event), -1);
  EXPECT_SAYS(TakeError(), "cuEventRecord");
  EXPECT_EQ(event, nullptr);
  Free(device);
}

TEST_F(Copies, BeyondTheEndIsRefused) {
  void* device = Alloc(16);
  char host[64] = {};
  EXPECT_EQ(Copy(Host(host), On(Cuda(), device, 8), 16), -1);
  EXPECT_SAYS(TakeError(), "check that the memory was not freed and that the range lies within it");
  Free(device);
  EXPECT_EQ(Copy(Host(host), On(Cuda(), device), 16), -1);
  EXPECT_SAYS(TakeError(),
              "cuMemcpyAsync failed with CUDA_ERROR_INVALID_VALUE (1): invalid argument, while copying 16 bytes");
}

TEST_F(Copies, NothingIsCopiedWithoutTheDriver) {
  EXPECT_EQ(Copy(Host(nullptr), On(Cuda(), nullptr), 0), 0);
  const KpMemory nowhere = On(Cuda(), nullptr);
  EXPECT_EQ(cuda_.fill(&cuda_, &nowhere, 0, 1, nullptr), 0);
  EXPECT_EQ(kernpack_emulator_live("contexts"), 0);
}

// Boxes against an index-by-index copy, host to device and back.
TEST_F(Copies, BoxesAreCopiedInFewCalls) {
  struct Case {
    std::vector<int64_t> shape, from, to;  // strides in bytes
    int32_t done;
  };
  const std::vector<Case> cases = {
      {{6, 8}, {64, 4}, {32, 4}, 1},                  // rows with gaps
      {{3, 4, 5}, {400, 40, 4}, {80, 20, 4}, 1},      // planes
      {{4, 6}, {48, 8}, {24, 4}, 1},                  // every other element
      {{2, 2, 3, 4}, {800, 400, 64, 4}, {96, 48, 16, 4}, 1},
      {{4, 8}, {-64, 4}, {32, 4}, 0},                 // backwards
      {{4, 8}, {0, 4}, {32, 4}, 0},                   // repeated
      {{300, 2, 4}, {64, 32, 4}, {32, 16, 4}, 0},     // too many planes
  };
  for (const Case& c : cases) {
    std::vector<float> source(8192);
    std::iota(source.begin(), source.end(), 0.0F);
    void* device = Alloc(65536);
    const KpStridedCopy box{static_cast<int32_t>(c.shape.size()), 4, c.shape.data(), c.from.data(), c.to.data()};
    const KpMemory from = {source.data(), 4096, {KP_DEVICE_CPU, 0}};
    const KpMemory to = On(Cuda(), device);
    ASSERT_EQ(cuda_.fill(&cuda_, &to, 65536, 0, nullptr), 0);
    int32_t done = -1;
    ASSERT_EQ(cuda_.copy_strided(&cuda_, &from, &to, &box, nullptr, &done), 0) << TakeError();
    ASSERT_EQ(done, c.done);
    if (done == 1) {
      std::vector<float> wanted(4096, 0.0F);
      std::vector<int64_t> index(c.shape.size());
      for (int64_t n = 0, size = std::accumulate(c.shape.begin(), c.shape.end(), int64_t{1}, std::multiplies<>());
           n < size; ++n) {
        int64_t rest = n, from_at = 4096, to_at = 0;
        for (size_t d = c.shape.size(); d-- > 0; rest /= c.shape[d]) {
          from_at += rest % c.shape[d] * c.from[d];
          to_at += rest % c.shape[d] * c.to[d];
        }
        wanted[static_cast<size_t>(to_at / 4)] = source[static_cast<size_t>(from_at / 4)];
      }
      EXPECT_EQ(Download(device, 4096), wanted);
    }
    Free(device);
  }
}

class WithShortPitches : public FakeDriver {
  void Configure() override { kernpack_emulator_set("max_pitch", 64); }
};

// Rows that are further apart than the driver takes are left to the host, which packs them; of one row the pitch doesn't count.
TEST_F(WithShortPitches, RowsFarApartAreNotGivenToTheDriver) {
  const std::vector<float> source(256, 3.0F);
  void* device = Alloc(1024);
  const KpMemory from = {const_cast<float*>(source.data()), 0, {KP_DEVICE_CPU, 0}}, to = On(Cuda(), device);
  const auto copied = [&](int64_t rows, int64_t pitch) {
    const int64_t shape[] = {rows, 4}, from_strides[] = {pitch, 4}, to_strides[] = {16, 4};
    const KpStridedCopy box{2, 4, shape, from_strides, to_strides};
    int32_t done = -1;
    EXPECT_EQ(cuda_.copy_strided(&cuda_, &from, &to, &box, nullptr, &done), 0) << TakeError();
    return done;
  };
  EXPECT_EQ(copied(8, 64), 1);
  EXPECT_EQ(copied(8, 128), 0);
  EXPECT_EQ(copied(1, 128), 1);
  Free(device);
}

}  // namespace
}  // namespace kernpack::cuda
