// Workspaces: zeroed once, kept, grown, one a thread on CPU and one a stream elsewhere.
#include "support.h"

#include <cstdlib>
#include <cstring>
#include <thread>

namespace kernpack_test {
namespace {

constexpr KpDLDevice kCpu{KP_DEVICE_CPU, 0};
constexpr KpDLDevice kMaia{KP_DEVICE_MAIA, 0};  // a type without backend

class WorkspaceTest : public HostTest {
 protected:
  void TearDown() override {
    kp_storage_reset_device(kCpu);
    kp_storage_reset_device(kMaia);
    HostTest::TearDown();
  }
  unsigned char* Get(const char* name, uint64_t bytes, uint32_t flags = KP_WORKSPACE_ZEROED, KpDLDevice device = kCpu,
                     void* stream = nullptr) {
    const KpStorageKey key = Key("m", name, KP_SCOPE_STREAM, device, stream);
    void* data = nullptr;
    return host->workspace(host, &key, bytes, flags, &data) == 0 ? static_cast<unsigned char*>(data) : nullptr;
  }
};

TEST_F(WorkspaceTest, ZeroedOnceThenKept) {
  unsigned char* data = Get("w", 1000);
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 256, 0u);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(data[i], 0);
  std::memset(data, 7, 1000);
  EXPECT_EQ(Get("w", 1000), data);
  EXPECT_EQ(Get("w", 10), data);
  EXPECT_EQ(data[999], 7);
  EXPECT_NE(Get("other", 10), data);
}

TEST_F(WorkspaceTest, GrowsAndIsZeroedAgain) {
  unsigned char* data = Get("w", 100);
  std::memset(data, 7, 100);
  unsigned char* grown = Get("w", 100000);
  ASSERT_NE(grown, nullptr);
  for (int i = 0; i < 100000; ++i) ASSERT_EQ(grown[i], 0);
  EXPECT_EQ(Get("w", 100), grown) << "a smaller request keeps the larger buffer";
}

TEST_F(WorkspaceTest, NoBytesIsLegal) { EXPECT_NE(Get("w", 0), nullptr); }

TEST_F(WorkspaceTest, EachThreadHasItsOwnOnCpuAndGivesItBack) {
  unsigned char* mine = Get("w", 64);
  const int64_t live = kp_live_objects();
  unsigned char* theirs = nullptr;
  std::thread([&] {
    theirs = Get("w", 64);
    EXPECT_EQ(kp_live_objects(), live + 1);
  }).join();
  EXPECT_NE(theirs, nullptr);
  EXPECT_NE(theirs, mine);
  EXPECT_EQ(kp_live_objects(), live);
}

// Stands for a framework's allocator on a device: host memory that claims to be another device's.
int FakeAlloc(void* context, const KpDLTensor* prototype, KpAny* out) {
  ++*static_cast<int*>(context);
  KpDLTensor tensor = *prototype;
  tensor.data = std::aligned_alloc(256, static_cast<size_t>((prototype->shape[0] + 255) / 256 * 256));
  return kp_tensor_wrap(&tensor, tensor.data, std::free, out);
}

TEST_F(WorkspaceTest, OnADeviceOneAStreamFromTheFrameworkKeptWhenReplaced) {
  int allocations = 0;
  int streams[2];
  KpCallContext call{};
  call.device = kMaia;
  call.stream = &streams[0];
  call.tensor_alloc = FakeAlloc;
  call.tensor_alloc_context = &allocations;
  kp_call_enter(&call);
  unsigned char* first = Get("w", 512, 0, kMaia);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(Get("w", 512, 0, kMaia, &streams[0]), first) << "the call's stream is the default";
  EXPECT_NE(Get("w", 512, 0, kMaia, &streams[1]), first);
  unsigned char* from_thread = nullptr;
  std::thread([&] {
    KpCallContext same = call;
    kp_call_enter(&same);
    from_thread = Get("w", 512, 0, kMaia);
    kp_call_leave(&same);
  }).join();
  EXPECT_EQ(from_thread, first) << "the stream orders two threads";
  const int64_t live = kp_live_objects();
  EXPECT_NE(Get("w", 5000, 0, kMaia), first);
  EXPECT_EQ(kp_live_objects(), live + 1) << "queued work may still use the smaller buffer";
  EXPECT_EQ(allocations, 3);
  kp_call_leave(&call);
}

TEST_F(WorkspaceTest, ZeroingNeedsABackend) {
  int allocations = 0;
  KpCallContext call{};
  call.device = kMaia;
  call.tensor_alloc = FakeAlloc;
  call.tensor_alloc_context = &allocations;
  kp_call_enter(&call);
  EXPECT_EQ(Get("w", 64, KP_WORKSPACE_ZEROED, kMaia), nullptr);
  EXPECT_EQ(TakeError().find("RuntimeError: workspace: 'w' is to be zeroed on device maia:0: "), 0u);
  kp_call_leave(&call);
}

TEST_F(WorkspaceTest, ErrorsSayWhatToDo) {
  EXPECT_EQ(Get("w", 64, 0, kMaia), nullptr);
  EXPECT_EQ(TakeError().find("RuntimeError: no allocator for device maia:0 in this call"), 0u);
  EXPECT_EQ(Get("w", 64, 8), nullptr);
  EXPECT_EQ(TakeError(), "ValueError: workspace: unknown flags 0x8");
  EXPECT_EQ(Get("w", 64, 0, {0, 0}), nullptr);
  EXPECT_EQ(TakeError(), "ValueError: workspace: device type is 0; expected one of DLPack's");
  EXPECT_EQ(Get("w", UINT64_MAX), nullptr);
  EXPECT_EQ(TakeError().find("MemoryError: workspace: 'w': 18446744073709551615 bytes"), 0u);
  EXPECT_EQ(Get("w", uint64_t{1} << 60), nullptr);
  EXPECT_EQ(TakeError().find("MemoryError: "), 0u);
}

}  // namespace
}  // namespace kernpack_test
