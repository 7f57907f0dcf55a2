// Everything from several threads at once, and in a forked child.
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "support.h"

namespace kernpack_conformance {
namespace {

class ThreadTest : public Conformance {};

TEST_F(ThreadTest, ThreadsDoNotDisturbEachOther) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      void* stream = nullptr;
      ASSERT_EQ(api->stream_new(api, device, 0, &stream), 0) << TakeError();
      for (unsigned round = 0; round < 25; ++round) {
        const size_t size = 1000 + 777 * ((t + round) % 5);
        Memory memory(size);
        Memory copy(size);
        const Bytes data = Pattern(size, t * 100 + round);
        Upload(data, memory.at(), stream);
        const KpMemory from = memory.at();
        const KpMemory to = copy.at();
        ASSERT_EQ(api->copy(api, &from, &to, size, stream), 0) << TakeError();
        ASSERT_EQ(Download(to, size, stream), data);
        void* workspace = nullptr;
        ASSERT_EQ(kp_workspace_alloc(device, size, stream, &workspace), 0) << TakeError();
        const KpMemory scratch{workspace, 0, device};
        ASSERT_EQ(api->fill(api, &scratch, size, static_cast<int32_t>(t), stream), 0) << TakeError();
        ASSERT_EQ(api->stream_sync(api, device, stream), 0) << TakeError();
        ASSERT_EQ(kp_workspace_free(device, workspace, stream), 0) << TakeError();
      }
      EXPECT_EQ(api->stream_free(api, device, stream), 0) << TakeError();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ThreadTest, WhatOneThreadMadeAnotherMayFree) {
  void* handle = nullptr;
  void* stream = nullptr;
  std::thread([&] {
    EXPECT_EQ(api->alloc(api, device, 5000, 64, KpBytes{}, &handle), 0) << TakeError();
    EXPECT_EQ(api->stream_new(api, device, 0, &stream), 0) << TakeError();
  }).join();
  const KpMemory memory{handle, 0, device};
  Upload(Pattern(5000), memory, stream);
  EXPECT_EQ(Download(memory, 5000, stream), Pattern(5000));
  std::thread([&] {
    EXPECT_EQ(api->stream_free(api, device, stream), 0) << TakeError();
    EXPECT_EQ(api->free(api, device, handle), 0) << TakeError();
  }).join();
}

// A child may use everything that its parent opened, or it gets an error for everything.
int InChild(const KpDeviceApi* api, KpDLDevice device, const KpMemory& parents) {
  const bool safe = (api->flags & KP_DEVICE_FORK_SAFE) != 0;
  const int wanted = safe ? 0 : -1;
  void* handle = nullptr;
  if (api->alloc(api, device, 100, 64, KpBytes{}, &handle) != wanted) return 1;
  if (!safe && TakeError().find("forked") == std::string::npos) return 2;
  unsigned char byte = 0;
  const KpMemory target = OnHost(&byte);
  if (api->copy(api, &parents, &target, 1, nullptr) != wanted) return 3;
  TakeError();
  if (api->stream_sync(api, device, nullptr) != wanted) return 4;
  TakeError();
  void* workspace = nullptr;
  if (kp_workspace_alloc(device, 100, nullptr, &workspace) != wanted) return 5;
  TakeError();
  int64_t shape = 10;
  const KpDLTensor prototype{nullptr, device, 1, {KP_DTYPE_UINT, 8, 1}, &shape, nullptr, 0};
  KpAny tensor = kp_none();
  if (kp_tensor_alloc(&prototype, KpBytes{}, &tensor) != wanted) return 6;
  TakeError();
  return 0;
}

TEST_F(ThreadTest, AForkedChildWorksOrGetsAnError) {
  Memory memory(100);
  int64_t shape = 10;
  const KpDLTensor prototype{nullptr, device, 1, {KP_DTYPE_UINT, 8, 1}, &shape, nullptr, 0};
  KpAny tensor = kp_none();
  KP_OK(kp_tensor_alloc(&prototype, KpBytes{}, &tensor));
  KP_OK(api->stream_sync(api, device, nullptr));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const int status = InChild(api, device, memory.at());
    KpAny inherited = tensor;
    kp_any_release(&inherited);  // its memory is the parent's: leaked, not freed
    _exit(kp_error_pending() ? 7 : status);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  kp_any_release(&tensor);
}

}  // namespace
}  // namespace kernpack_conformance
