// Properties of the process: fork, shutdown, silence, environment variables.
#include "support.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

namespace kernpack_test {
namespace {

class ProcessTest : public HostTest {
 protected:
  void SetUp() override {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    HostTest::SetUp();
  }
};

int Count(void* context, int64_t begin, int64_t end) {
  *static_cast<std::atomic<int64_t>*>(context) += end - begin;
  return 0;
}

bool ParallelWorks() {
  std::atomic<int64_t> total{0};
  return kp_host()->parallel_for(kp_host(), 1000, 1, Count, &total) == 0 && total == 1000;
}

bool StorageWorks(const char* name) {
  const KpStorageKey key = Key("process_test", name);
  const auto factory = [](void*, KpAny* made) {
    *made = Int(1);
    return 0;
  };
  Value value;
  int32_t erased = 0;
  return kp_host()->storage_get_or_init(kp_host(), &key, factory, nullptr, value.out()) == 0 && value->v.v_int == 1 &&
         kp_host()->storage_erase(kp_host(), &key, &erased) == 0 && erased == 1;
}

// Forks while other threads hold every lock there is as often as they can; the child must work all the same.
TEST_F(ProcessTest, AForkedChildWorks) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "AddressSanitizer's own allocator keeps the locks that other threads held at fork, so a child hangs in "
         "its malloc; the other builds run this test";
#endif
  ASSERT_EQ(kp_set_num_threads(3), 0);
  ASSERT_TRUE(ParallelWorks());
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const std::string name = "busy" + std::to_string(t);
      while (!stop) {
        StorageWorks(name.c_str());
        ParallelWorks();
        kp_dtype_name({KP_DTYPE_INT, static_cast<uint8_t>(3 + t), 1});
        void* data = nullptr;
        const KpStorageKey key = Key("process_test", name.c_str(), KP_SCOPE_STREAM, {KP_DEVICE_CPU, 0});
        kp_host()->workspace(kp_host(), &key, 64, 0, &data);
      }
    });
  }
  int failures = 0;
  for (int round = 0; round < 100; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // a lock left held would hang; the signal makes that a failure
      _exit(StorageWorks("child") && StorageWorks("busy0x") && ParallelWorks() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    failures += !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

TEST_F(ProcessTest, AKeyBeingMadeInTheParentCanBeMadeInTheChild) {
  std::atomic<int> step{0};
  const KpStorageKey key = Key("process_test", "half made");
  std::thread maker([&] {
    const auto slow = [](void* context, KpAny* made) {
      auto* at = static_cast<std::atomic<int>*>(context);
      *at = 1;
      while (*at != 2) std::this_thread::yield();
      *made = Int(5);
      return 0;
    };
    Value value;
    host->storage_get_or_init(host, &key, slow, &step, value.out());
  });
  while (step != 1) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(StorageWorks("half made") ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  step = 2;
  maker.join();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  int32_t erased = 0;
  host->storage_erase(host, &key, &erased);
}

TEST_F(ProcessTest, ShutdownGivesEverythingBackAndTheHostStillWorks) {
  EXPECT_EXIT(
      {
        const int64_t before = kp_live_objects();
        kp_set_num_threads(3);
        bool good = ParallelWorks();
        const KpAny value = RawStr("a value of some length");
        const KpStorageKey key = Key("m", "left", KP_SCOPE_STREAM, {KP_DEVICE_CPU, 0});
        good = good && kp_host()->storage_set(kp_host(), &key, &value) == 0;
        void* data = nullptr;
        good = good && kp_host()->workspace(kp_host(), &key, 1000, 0, &data) == 0;
        Value function;
        kp_function_new(nullptr, [](void*, const KpAny*, int32_t, KpAny*) { return 0; }, nullptr, function.out());
        kp_host()->global_set(kp_host(), kp_bytes("f"), function.object(), 0);
        function = Value();
        kp_raise("ValueError", "pending");
        good = good && kp_live_objects() > before && kp_host_shutdown() == 0 && kp_live_objects() == before;
        std::exit(good && ParallelWorks() && StorageWorks("again") && kp_host_shutdown() == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(ProcessTest, ExitWithWorkersErrorsAndValuesLeftIsClean) {
  EXPECT_EXIT(
      {
        kp_set_num_threads(4);
        ParallelWorks();
        const KpAny value = RawStr("a value of some length");
        const KpStorageKey key = Key("m", "left");
        kp_host()->storage_set(kp_host(), &key, &value);
        kp_raise("ValueError", "pending");
        std::thread([] {
          while (true) ParallelWorks();
        }).detach();
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^$");
}

int32_t ThreadsWith(const char* value) {
  setenv("KERNPACK_NUM_THREADS", value, 1);
  int32_t threads = 0;
  kp_host()->num_threads(kp_host(), &threads);
  return threads;
}

TEST_F(ProcessTest, NumThreadsFromTheEnvironment) {
  EXPECT_EXIT(std::exit(ThreadsWith("7")), testing::ExitedWithCode(7), "");
  for (const char* bad : {"0", "-3", "many", "4x", "99999999999"}) {
    EXPECT_EXIT(
        {
          setenv("KERNPACK_LOG", "warning", 1);
          cpu_set_t cpus;
          sched_getaffinity(0, sizeof cpus, &cpus);
          std::exit(ThreadsWith(bad) == CPU_COUNT(&cpus) && ParallelWorks() ? 0 : 1);
        },
        testing::ExitedWithCode(0),
        "kernpack: warning: KERNPACK_NUM_THREADS: expected a whole number from 1 to 1024, got '.*'");
  }
}

TEST_F(ProcessTest, AffinityBoundsThePool) {
  EXPECT_EXIT(
      {
        unsetenv("KERNPACK_NUM_THREADS");
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        sched_setaffinity(0, sizeof one, &one);
        int32_t threads = 0;
        kp_host()->num_threads(kp_host(), &threads);
        std::exit(threads);
      },
      testing::ExitedWithCode(1), "");
}

TEST_F(ProcessTest, LogIsSilentUnlessAskedFor) {
  EXPECT_EXIT(
      {
        unsetenv("KERNPACK_LOG");
        kp_host()->log(kp_host(), KP_LOG_ERROR, kp_bytes("hidden"));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(
      {
        setenv("KERNPACK_LOG", "warning", 1);
        kp_host()->log(kp_host(), KP_LOG_INFO, kp_bytes("hidden"));
        kp_host()->log(kp_host(), KP_LOG_ERROR, kp_bytes("shown"));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^kernpack: error: shown\n$");
}

}  // namespace
}  // namespace kernpack_test
