// A thousand forks and five hundred exits, with devices in use and everything torn down in every order.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "device/small_backend.h"

#ifdef __SANITIZE_ADDRESS__
// A child that exits leaks on purpose: what it leaves in use, and what the library keeps.
static bool g_leaks_on_purpose = false;
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() { return g_leaks_on_purpose ? 1 : 0; }
#endif

namespace kernpack_test {
namespace {

constexpr KpDLDevice kCpu{KP_DEVICE_CPU, 0};

// Ends the process with a signal when a child enters it, or when it is entered at exit. Under two names: one is opened by the
// test's own process, the other only by its children.
class Fragile : public SmallBackend<Fragile> {
 public:
  void Opened() { owner_ = getpid(); }
  void Enter() const {
    if (owner_ != getpid() || exiting) std::abort();
  }

  std::atomic<bool> exiting{false};

 private:
  pid_t owner_ = 0;
};

Fragile& g_fragile = Fragile::The();

KpAny NewTensor(KpDLDevice device) {
  int64_t shape = 100;
  const KpDLTensor prototype{nullptr, device, 1, {KP_DTYPE_UINT, 8, 1}, &shape, nullptr, 0};
  KpAny tensor = kp_none();
  EXPECT_EQ(kp_tensor_alloc(&prototype, KpBytes{}, &tensor), 0) << TakeError();
  return tensor;
}

// One thing in use; `End` gives it back.
struct Use {
  KpDLDevice device;
  KpAny tensor = kp_none();
  void* workspace = nullptr;
  void* stream = nullptr;

  explicit Use(KpDLDevice on) : device(on) {
    const KpDeviceApi* api = nullptr;
    EXPECT_EQ(kp_device_api(device.device_type, &api), 0);
    EXPECT_EQ(api->stream_new(api, device, 0, &stream), 0);
    tensor = NewTensor(device);
    EXPECT_EQ(kp_workspace_alloc(device, 5000, stream, &workspace), 0);
  }
  void End(int which) {
    const KpDeviceApi* api = nullptr;
    EXPECT_EQ(kp_device_api(device.device_type, &api), 0);
    int rc = 0;
    if (which == 0) kp_any_release(&tensor);
    if (which == 1) rc = kp_workspace_free(device, workspace, stream);
    if (which == 2) rc = api->stream_free(api, device, stream);
    if (which == 3) rc = kp_device_reset(device);
    if (which == 4) rc = kp_host_shutdown();
    EXPECT_EQ(rc, 0) << TakeError();
  }
};

// True if a child gets an error for the parent's device, and memory of the processor.
bool ChildWorks(const Use& parents) {
  void* handle = nullptr;
  KpAny tensor = parents.tensor;
  if (kp_workspace_alloc(parents.device, 100, nullptr, &handle) != -1) return false;
  if (TakeError().find("before it forked") == std::string::npos) return false;
  kp_any_release(&tensor);
  if (kp_workspace_alloc(kCpu, 70000, nullptr, &handle) != 0) return false;
  if (kp_workspace_free(kCpu, handle, nullptr) != 0) return false;
  KpAny ours = NewTensor(kCpu);
  kp_any_release(&ours);
  return kp_error_pending() == 0;
}

void WaitForSuccess(pid_t child) {
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  ASSERT_EQ(WEXITSTATUS(status), 0);
}

class StormTest : public HostTest {};

TEST_F(StormTest, AThousandForksWhileOthersWork) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "AddressSanitizer's own allocator keeps the locks that other threads held at fork, so a child hangs in "
         "its malloc; the other builds run this test";
#endif
  Use use(Fragile::Device("fragile"));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        void* mine = nullptr;
        void* shared = nullptr;
        EXPECT_EQ(kp_workspace_alloc(kCpu, 9000, nullptr, &mine), 0);
        EXPECT_EQ(kp_workspace_alloc(use.device, 9000, use.stream, &shared), 0);
        KpAny tensor = NewTensor(use.device);
        EXPECT_EQ(kp_workspace_trim(use.device, nullptr), 0);
        EXPECT_EQ(kp_workspace_free(use.device, shared, use.stream), 0);
        EXPECT_EQ(kp_workspace_free(kCpu, mine, nullptr), 0);
        kp_any_release(&tensor);
      }
    });
  }
#ifdef __SANITIZE_THREAD__
  constexpr int kForks = 50;  // each copies the sanitizer's shadow
#else
  constexpr int kForks = 1000;
#endif
  for (int i = 0; i < kForks && !HasFatalFailure(); ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(ChildWorks(use) ? 0 : 1);
    WaitForSuccess(child);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  for (const int which : {0, 1, 2}) use.End(which);
  EXPECT_EQ(kp_device_reset(use.device), 0) << TakeError();
}

// Exits with a thread at work, after giving back some of what is in use, in one order of all.
[[noreturn]] void ExitIn(const std::array<int, 5>& order, size_t how_many) {
#ifdef __SANITIZE_ADDRESS__
  g_leaks_on_purpose = true;
#endif
  Use use(Fragile::Device("fragile_child"));
  static Use* const left_at_exit = new Use(use.device);
  std::atexit([] {
    kp_any_release(&left_at_exit->tensor);  // may come from any destructor; a driver is there until its own
    g_fragile.exiting = true;
  });
  std::thread([] {
    void* handle = nullptr;
    for (;;) {
      if (kp_workspace_alloc(kCpu, 9000, nullptr, &handle) == 0) kp_workspace_free(kCpu, handle, nullptr);
    }
  }).detach();
  std::thread([&use] {
    void* handle = nullptr;
    kp_workspace_alloc(use.device, 100, nullptr, &handle);
    kp_workspace_free(use.device, handle, nullptr);
  }).join();
  for (size_t i = 0; i < how_many; ++i) use.End(order[i]);
  std::exit(testing::Test::HasFailure() ? 1 : 0);
}

TEST_F(StormTest, FiveHundredExitsInEveryOrderOfDestruction) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer waits a second at each exit; the other builds run this test";
#endif
  std::array<int, 5> order{0, 1, 2, 3, 4};  // a workspace that was freed after its stream, too
  size_t exits = 0;
  do {
    for (size_t how_many = 1; how_many <= order.size() && !HasFatalFailure(); ++how_many) {
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) ExitIn(order, how_many);
      WaitForSuccess(child);
      ++exits;
    }
  } while (exits < 500 && std::next_permutation(order.begin(), order.end()));
  EXPECT_GE(exits, 500u);
}

}  // namespace
}  // namespace kernpack_test
