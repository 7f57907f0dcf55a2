// The plugin in a process that others share: their contexts, threads, forks and the end. Through the host and the plugin's file.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <kernpack/host/device.h>

#include "support.h"

namespace kernpack::cuda {
namespace {

using Sharing = FakeDriver;

TEST_F(Sharing, TheCallersContextStays) {
  for (const int whose : {0, 1, 2}) {
    void* context = whose == 0   ? kernpack_emulator_use_context(1)
                    : whose == 1 ? kernpack_emulator_other_context(0)
                                 : kernpack_emulator_use_context(-1);
    void* stream = NewStream();
    void* memory = Alloc(16);
    Upload(memory, {1, 2, 3, 4}, stream);
    EXPECT_EQ(kernpack_emulator_current_context(), context);
    void* none = nullptr;
    EXPECT_EQ(cuda_.alloc(&cuda_, Cuda(), uint64_t{1} << 40, 64, B(""), &none), -1);  // also when it fails
    TakeError();
    EXPECT_EQ(kernpack_emulator_current_context(), context);
    Free(memory);
    FreeStream(stream);
    EXPECT_EQ(kernpack_emulator_current_context(), context);
  }
}

// No push where torch's context is the one: it is what torch made current.
TEST_F(Sharing, ThePrimaryContextIsUsedAsItIs) {
  Free(Alloc(16));
  kernpack_emulator_use_context(0);
  const long pushes = kernpack_emulator_calls("cuCtxPushCurrent");
  Free(Alloc(16));
  EXPECT_EQ(kernpack_emulator_calls("cuCtxPushCurrent"), pushes);
  EXPECT_EQ(kernpack_emulator_calls("cuDevicePrimaryCtxRetain"), 1);
}

TEST_F(Sharing, ThreadsWorkAtOnce) {
  void* code = Load(Ptx("sm_80", {"kp_test_scale"}));
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const KpDLDevice device = Cuda(0);
      for (int i = 0; i < 50; ++i) {
        void* stream = nullptr;
        void* memory = nullptr;
        void* kernel = nullptr;
        const std::vector<float> up(64, static_cast<float>(t));
        std::vector<float> down(64);
        int bad = cuda_.stream_new(&cuda_, device, 0, &stream);
        bad |= cuda_.alloc_async(&cuda_, device, 256, 64, stream, &memory);
        bad |= cuda_.get_kernel(&cuda_, device, code, B("kp_test_scale"), &kernel);
        bad |= Copy(Host(up.data()), On(device, memory), 256, stream);
        bad |= Scale(kernel, memory, 2, 64, stream);
        bad |= Copy(On(device, memory), Host(down.data()), 256, stream);
        bad |= cuda_.free_async(&cuda_, device, memory, stream);
        bad |= cuda_.stream_sync(&cuda_, device, stream);
        bad |= cuda_.stream_free(&cuda_, device, stream);
        if (bad != 0 || down[63] != static_cast<float>(2 * t) || kernpack_emulator_current_context() != nullptr)
          ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(kernpack_emulator_calls("cuDevicePrimaryCtxRetain"), 1);
  EXPECT_EQ(kernpack_emulator_calls("cuMemPoolCreate"), 1);
  Unload(code);
}

// Runs `body` in a fresh process of this program, which ends as programs do, with what it returns.
#define EXPECT_PROCESS_RETURNS_0(body)                                                                          \
  do {                                                                                                          \
    GTEST_FLAG_SET(death_test_style, "threadsafe");                                                             \
    EXPECT_EXIT(std::exit((setenv("KERNPACK_CUDA_DRIVER", FAKE_DRIVER, 1), kernpack_emulator_reset(), body())), \
                testing::ExitedWithCode(0), "");                                                                \
  } while (false)

// Opens the plugin through the host.
const KpDeviceApi* ThroughTheHost() {
  const KpDeviceApi* api = nullptr;
  if (kp_backend_load(CUDA_PLUGIN) != 0 || kp_device_api(KP_DEVICE_CUDA, &api) != 0) {
    std::fprintf(stderr, "%s\n", TakeError().c_str());
    return nullptr;
  }
  return api;
}

// The fake ends the process with 86 when it is called after main().
TEST(CudaProcessDeathTest, NothingIsCalledAtExit) {
  const auto body = [] {
    const KpDeviceApi* api = ThroughTheHost();
    if (api == nullptr) return 1;
    void* left[3] = {};  // a program that does not clean up
    const KpDLDevice device{KP_DEVICE_CUDA, 0};
    int bad = api->alloc(api, device, 1 << 20, 64, kp_bytes(""), &left[0]);
    bad |= api->stream_new(api, device, 0, &left[1]);
    bad |= api->workspace_alloc(api, device, 4096, left[1], &left[2]);
    bad |= api->workspace_free(api, device, left[2], left[1]);
    std::thread([&] { bad |= api->stream_sync(api, device, left[1]); }).join();
    return bad == 0 ? 0 : 1;
  };
  EXPECT_PROCESS_RETURNS_0(body);
}

TEST(CudaProcessDeathTest, AForkedChildIsToldAndTouchesNothing) {
  const auto body = [] {
    const KpDeviceApi* api = ThroughTheHost();
    if (api == nullptr) return 1;
    const pid_t child = fork();
    if (child == 0) {
      void* memory = nullptr;
      const int result = api->alloc(api, {KP_DEVICE_CUDA, 0}, 16, 64, kp_bytes(""), &memory);
      const std::string error = TakeError();
      const bool told = result == -1 && Contains(error, "spawn or forkserver");
      _exit(told && kernpack_emulator_calls_in_child() == 0 ? 0 : 2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    void* memory = nullptr;
    const int after = api->alloc(api, {KP_DEVICE_CUDA, 0}, 16, 64, kp_bytes(""), &memory);
    return WIFEXITED(status) && after == 0 ? WEXITSTATUS(status) : 3;
  };
  EXPECT_PROCESS_RETURNS_0(body);
}

TEST(CudaProcessDeathTest, NoDriverIsAReason) {
  const auto body = [] {
    setenv("KERNPACK_CUDA_DRIVER", FAKE_OLD_DRIVER, 1);
    if (kp_backend_load(CUDA_PLUGIN) != 0) return 1;
    for (const int32_t type : {KP_DEVICE_CUDA, KP_DEVICE_CUDA_HOST, KP_DEVICE_CUDA_MANAGED}) {
      int32_t count = -1;
      KpAny reason = kp_none();
      if (kp_device_count(type, &count, &reason) != 0 || count != 0) return 2;
      KpBytes text{};
      if (!kp_any_str(&reason, &text)) return 3;
      if (!Contains({text.data, text.size}, "supports CUDA 11.8; at least 12.0 is needed")) return 4;
      kp_any_release(&reason);
      KpAny exists = kp_none();
      if (kp_device_get_attr({type, 0}, KP_ATTR_EXIST, &exists) != 0 || exists.v.v_int != 0) return 5;
    }
    return 0;
  };
  EXPECT_PROCESS_RETURNS_0(body);
}

TEST(CudaProcessDeathTest, ExistIsNoForBadIds) {
  const auto body = [] {
    if (ThroughTheHost() == nullptr) return 1;
    for (const int32_t id : {-1, 0, 1, 2, 1000000}) {
      KpAny exists = kp_none();
      if (kp_device_get_attr({KP_DEVICE_CUDA, id}, KP_ATTR_EXIST, &exists) != 0) return 2;
      if ((exists.v.v_int != 0) != (id == 0 || id == 1)) return 3;
    }
    return 0;
  };
  EXPECT_PROCESS_RETURNS_0(body);
}

}  // namespace
}  // namespace kernpack::cuda
