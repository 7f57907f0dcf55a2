// Tests that the conformance suite can't make with every backend: one that runs out of memory, and one whose calls are counted.
#include <set>
#include <string>
#include <thread>

#include "device/small_backend.h"

namespace kernpack_test {
namespace {

// A device of 1 MiB, whose allocations and frees are counted.
class Small : public SmallBackend<Small> {
 public:
  int Alloc(uint64_t bytes, void** handle) {
    if (used + bytes > kBytes) return kp_raise("MemoryError", "small: out of memory");
    *handle = new char;
    used += bytes;
    ++allocs;
    live.insert({*handle, bytes});
    return 0;
  }
  int Free(void* handle) {
    const auto place = live.lower_bound({handle, 0});
    if (place == live.end() || place->first != handle) return kp_raise("ValueError", "small: no such memory");
    used -= place->second;
    ++frees;
    live.erase(place);
    delete static_cast<char*>(handle);
    return 0;
  }
  void Wait() { ++waits; }

  uint64_t used = 0;
  int allocs = 0;
  int frees = 0;
  int waits = 0;
  std::set<std::pair<void*, uint64_t>> live;

 private:
  static constexpr uint64_t kBytes = 1 << 20;
};

Small& g_small = Small::The();

class PoolTest : public HostTest {
 protected:
  void SetUp() override {
    HostTest::SetUp();
    device = Small::Device("small");
    ASSERT_EQ(kp_device_api(device.device_type, &api), 0) << TakeError();
    g_small.allocs = g_small.frees = g_small.waits = 0;
  }
  void TearDown() override {
    ASSERT_EQ(kp_device_reset(device), 0) << TakeError();
    EXPECT_TRUE(g_small.live.empty()) << "memory of the device leaked";
    HostTest::TearDown();
  }
  void* Get(uint64_t bytes, void* stream = nullptr) {
    void* handle = nullptr;
    EXPECT_EQ(kp_workspace_alloc(device, bytes, stream, &handle), 0) << TakeError();
    return handle;
  }
  void Give(void* handle, void* stream = nullptr) {
    EXPECT_EQ(kp_workspace_free(device, handle, stream), 0) << TakeError();
  }

  KpDLDevice device{};
  const KpDeviceApi* api = nullptr;
};

TEST_F(PoolTest, ARepeatedPatternAsksTheDriverOnce) {
  for (int round = 0; round < 100; ++round) {
    void* outer = Get(100000);
    void* inner = Get(5000);
    Give(inner);
    Give(outer);
  }
  EXPECT_EQ(g_small.allocs, 2);
  EXPECT_EQ(g_small.frees, 0);
}

TEST_F(PoolTest, GrowingReplacesRatherThanAdds) {
  for (uint64_t bytes = 4096; bytes <= 256 << 10; bytes *= 2) Give(Get(bytes));
  EXPECT_EQ(g_small.live.size(), 1u);
}

TEST_F(PoolTest, SizesFarApartDoNotTakeEachOthersPlace) {
  for (int round = 0; round < 20; ++round) {
    void* small = Get(8 << 10);
    Give(small);
    void* large = Get(512 << 10);
    Give(large);
    EXPECT_NE(small, large);
  }
  EXPECT_EQ(g_small.allocs, 2);
}

TEST_F(PoolTest, OutOfMemoryEmptiesThePoolsAndAsksAgain) {
  void* stream = nullptr;
  ASSERT_EQ(api->stream_new(api, device, 0, &stream), 0);
  Give(Get(600 << 10));
  void* kept = Get(300 << 10, stream);
  Give(Get(64 << 10, stream), stream);
  void* large = Get(700 << 10, stream);  // fits only without what the two pools keep
  Give(large, stream);
  Give(kept, stream);
  void* none = nullptr;
  EXPECT_EQ(kp_workspace_alloc(device, 2 << 20, nullptr, &none), -1);
  EXPECT_EQ(TakeError(), "MemoryError: small: out of memory");
  int64_t shape = 900 << 10;
  const KpDLTensor prototype{nullptr, device, 1, {KP_DTYPE_UINT, 8, 1}, &shape, nullptr, 0};
  Value tensor;
  EXPECT_EQ(kp_tensor_alloc(&prototype, KpBytes{}, tensor.out()), 0) << TakeError();
  ASSERT_EQ(api->stream_free(api, device, stream), 0);
}

TEST_F(PoolTest, ABlockFreedForAnotherStreamMakesItsOwnWait) {
  void* stream = nullptr;
  ASSERT_EQ(api->stream_new(api, device, 0, &stream), 0);
  void* handle = Get(5000);
  Give(handle, stream);
  EXPECT_EQ(g_small.waits, 1);
  EXPECT_EQ(Get(5000), handle);
  Give(handle);
  EXPECT_EQ(g_small.waits, 1);
  ASSERT_EQ(api->stream_free(api, device, stream), 0);
}

TEST_F(PoolTest, TheEndOfAStreamGivesBackWhatItsPoolKept) {
  void* stream = nullptr;
  ASSERT_EQ(api->stream_new(api, device, 0, &stream), 0);
  Give(Get(5000, stream), stream);
  EXPECT_EQ(g_small.live.size(), 1u);
  ASSERT_EQ(api->stream_free(api, device, stream), 0);
  EXPECT_EQ(g_small.live.size(), 0u);
}

TEST_F(PoolTest, ThreadsThatEndTakeNothingWithThem) {
  const KpDLDevice cpu{KP_DEVICE_CPU, 0};
  for (int i = 0; i < 50; ++i) {
    std::thread([&] {
      void* handle = nullptr;
      EXPECT_EQ(kp_workspace_alloc(cpu, 1 << 20, nullptr, &handle), 0);
      EXPECT_EQ(kp_workspace_free(cpu, handle, nullptr), 0);
      Give(Get(5000));
    }).join();
  }
  EXPECT_EQ(g_small.allocs, 1) << "threads share the pool of a stream";
  Value stats;
  ASSERT_EQ(kp_workspace_stats(stats.out()), 0);
  const std::string text = Str(stats.get());
  EXPECT_NE(text.find("\"device\":\"small:0\""), std::string::npos) << text;
}

}  // namespace
}  // namespace kernpack_test
