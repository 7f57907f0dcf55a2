// Workspaces: the pool, and buffers kept under a key.
#include <thread>

#include "support.h"

namespace kernpack_conformance {
namespace {

class WorkspaceTest : public Conformance {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    if (api != nullptr) Trim();
  }
  void TearDown() override {
    if (api != nullptr) {
      EXPECT_EQ(kp_device_reset(device), 0) << TakeError();
    }
    Conformance::TearDown();
  }
  uint64_t Trim() {
    uint64_t bytes = 0;
    EXPECT_EQ(kp_workspace_trim(device, &bytes), 0) << TakeError();
    return bytes;
  }
  void* Alloc(uint64_t bytes, void* stream = nullptr) {
    void* handle = nullptr;
    EXPECT_EQ(kp_workspace_alloc(device, bytes, stream, &handle), 0) << TakeError();
    return handle;
  }
  void Free(void* handle, void* stream = nullptr) {
    EXPECT_EQ(kp_workspace_free(device, handle, stream), 0) << TakeError();
  }
};

TEST_F(WorkspaceTest, ReusedInReverseOrder) {
  void* first = Alloc(10000);
  void* second = Alloc(10000);
  EXPECT_NE(first, second);
  Free(second);
  EXPECT_EQ(Alloc(9000), second) << "a smaller one of the same pages";
  Free(second);
  Free(first);
  EXPECT_EQ(Alloc(10000), first);
  Free(first);
  EXPECT_EQ(Trim(), 2u * 12288);
  EXPECT_EQ(Trim(), 0u);
}

TEST_F(WorkspaceTest, IsReusedInAnyOrderAndSize) {
  std::vector<void*> handles;
  for (uint64_t bytes : {0u, 1u, 5000u, 100000u, 64u, 5000u}) handles.push_back(Alloc(bytes));
  for (const size_t i : {2u, 0u, 5u, 1u, 4u, 3u}) Free(handles[i]);
  const KpMemory memory{Alloc(100000), 0, device};
  EXPECT_EQ(memory.handle, handles[3]) << "the smallest that fits";
  const KpMemory other{Alloc(100000), 0, device};
  KP_OK(api->fill(api, &memory, 100000, 3, nullptr));
  KP_OK(api->copy(api, &memory, &other, 100000, nullptr));
  KP_OK(api->stream_sync(api, device, nullptr));
  Free(memory.handle);
  Free(other.handle);
}

TEST_F(WorkspaceTest, AnyThreadMayFree) {
  void* mine = Alloc(5000);
  std::thread([&] { Free(mine); }).join();
  EXPECT_EQ(Alloc(5000), mine);
  Free(mine);
  void* theirs = nullptr;
  std::thread([&] { theirs = Alloc(5000); }).join();
  Free(theirs);
}

TEST_F(WorkspaceTest, WhatIsNotInUseCannotBeFreed) {
  void* handle = Alloc(100);
  Free(handle);
  EXPECT_EQ(kp_workspace_free(device, handle, nullptr), -1);
  EXPECT_EQ(TakeError().rfind("ValueError: kp_workspace_free: ", 0), 0u);
  int other = 0;
  EXPECT_EQ(kp_workspace_free(device, &other, nullptr), -1);
  EXPECT_EQ(TakeError().rfind("ValueError: kp_workspace_free: ", 0), 0u);
  EXPECT_EQ(kp_workspace_alloc(device, uint64_t{1} << 62, nullptr, &handle), -1);
  EXPECT_EQ(TakeError().rfind("MemoryError: ", 0), 0u);
}

TEST_F(WorkspaceTest, StreamsDoNotShare) {
  KP_NEEDS(KP_DEVICE_STREAMS);
  void* stream = nullptr;
  KP_OK(api->stream_new(api, device, 0, &stream));
  void* first = Alloc(5000);
  Free(first);
  void* second = Alloc(5000, stream);
  EXPECT_NE(second, first) << "work on the first stream may still use it";
  // Used on one stream, freed for another: the first to get it again waits for both.
  KP_OK(kp_workspace_free(device, second, nullptr));
  EXPECT_EQ(Alloc(5000, stream), second);
  Free(second, stream);
  KP_OK(api->stream_sync(api, device, stream));
  KP_OK(api->stream_free(api, device, stream));
}

TEST_F(WorkspaceTest, OutlivesItsStreamUntilFreed) {
  void* stream = nullptr;
  KP_OK(api->stream_new(api, device, 0, &stream));
  void* handle = Alloc(5000, stream);
  KP_OK(api->stream_free(api, device, stream));
  Free(handle);
}

TEST_F(WorkspaceTest, StatisticsCount) {
  const auto stats = [] {
    KpAny text = kp_none();
    EXPECT_EQ(kp_workspace_stats(&text), 0) << TakeError();
    std::string json = Text(text);
    kp_any_release(&text);
    return json;
  };
  void* handle = Alloc(uint64_t{3} << 20);
  EXPECT_NE(stats().find("\"in_use\":3145728"), std::string::npos) << stats();
  Free(handle);
  EXPECT_NE(stats().find("\"device\":\"" + TheSubject().name + ":0\""), std::string::npos) << stats();
}

TEST_F(WorkspaceTest, KeptUnderAKeyZeroedOnce) {
  const KpHost* host = kp_host();
  const KpStorageKey key{kp_bytes("conformance"), kp_bytes("counters"), KP_SCOPE_STREAM, 0, device, nullptr};
  void* data = nullptr;
  KP_OK(host->workspace(host, &key, 4096, KP_WORKSPACE_ZEROED, &data));
  const KpMemory memory{data, 0, device};
  EXPECT_EQ(Download(memory, 4096), Bytes(4096, 0));
  KP_OK(api->fill(api, &memory, 4096, 9, nullptr));
  void* again = nullptr;
  KP_OK(host->workspace(host, &key, 100, KP_WORKSPACE_ZEROED, &again));
  EXPECT_EQ(again, data);
  EXPECT_EQ(Download(memory, 4096), Bytes(4096, 9)) << "left as the kernel left it";
  KP_OK(host->workspace(host, &key, 1 << 20, KP_WORKSPACE_ZEROED, &again));
  EXPECT_EQ(Download({again, 0, device}, 1 << 20), Bytes(1 << 20, 0)) << "grown, and zeroed again";
}

TEST_F(WorkspaceTest, TensorsOfEveryScopeComeAndGo) {
  int64_t shape[] = {7, 9};
  const KpDLTensor prototype{nullptr, device, 2, {KP_DTYPE_FLOAT, 32, 1}, shape, nullptr, 0};
  KpAny tensor = kp_none();
  for (const char* const* scope = api->scopes; *scope != nullptr; ++scope) {
    KP_OK(kp_tensor_alloc(&prototype, kp_bytes(*scope), &tensor));
    ASSERT_EQ(tensor.type_index, KP_TYPE_TENSOR);
    KP_OK(kp_fill(kp_any_tensor(&tensor), 0));
    EXPECT_EQ(Download({kp_any_tensor(&tensor)->data, 0, device}, 252), Bytes(252, 0));
    kp_any_release(&tensor);
  }
  EXPECT_EQ(kp_tensor_alloc(&prototype, kp_bytes("no.such.scope"), &tensor), -1);
  EXPECT_EQ(TakeError().rfind("ValueError: ", 0), 0u);
  shape[0] = 0;
  KP_OK(kp_tensor_alloc(&prototype, KpBytes{}, &tensor));
  kp_any_release(&tensor);
}

}  // namespace
}  // namespace kernpack_conformance
