// parallel_for: every item once, errors, nesting, whose threads are used.
#include "support.h"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace kernpack_test {
namespace {

struct Marks {
  explicit Marks(int64_t n) : counts(static_cast<size_t>(n)) {}
  std::vector<std::atomic<int>> counts;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  int64_t smallest = INT64_MAX;
};

int Mark(void* context, int64_t begin, int64_t end) {
  auto* marks = static_cast<Marks*>(context);
  for (int64_t i = begin; i < end; ++i) ++marks->counts[static_cast<size_t>(i)];
  std::lock_guard lock(marks->mutex);
  marks->threads.insert(std::this_thread::get_id());
  if (end != static_cast<int64_t>(marks->counts.size())) marks->smallest = std::min(marks->smallest, end - begin);
  return 0;
}

// On a busy machine an earlier test's jobs may have waited so long for their threads that jobs run on the caller's thread alone for 100 ms
// (devices/parallel/cpu_contention.h). Each test here begins after that, since it counts threads or chunks.
constexpr auto kCrowdedSpell = std::chrono::milliseconds(101);

class ParallelTest : public HostTest {
 protected:
  void SetUp() override {
    std::this_thread::sleep_for(kCrowdedSpell);
    ASSERT_EQ(kp_set_num_threads(4), 0);
    HostTest::SetUp();
  }
};

TEST_F(ParallelTest, EveryItemOnceInChunksOfAtLeastTheGrain) {
  for (int64_t n : {0, 1, 2, 3, 7, 100, 1001, 65536}) {
    for (int64_t grain : {-1, 0, 1, 5, 64, 1000000}) {
      Marks marks(n);
      ASSERT_EQ(host->parallel_for(host, n, grain, Mark, &marks), 0);
      for (auto& count : marks.counts) ASSERT_EQ(count, 1) << n << " " << grain;
      EXPECT_GE(marks.smallest, grain);
      if (grain >= n && n > 0) {
        EXPECT_EQ(marks.threads.size(), 1u);
      }
    }
  }
}

TEST_F(ParallelTest, UsesSeveralThreads) {
  std::atomic<int> inside{0};
  const auto meet = [](void* context, int64_t, int64_t) {
    auto* count = static_cast<std::atomic<int>*>(context);
    ++*count;
    for (int i = 0; i < 1000000 && *count < 2; ++i) std::this_thread::yield();
    return *count < 2 ? kp_raise("RuntimeError", "alone") : 0;
  };
  EXPECT_EQ(host->parallel_for(host, 2, 1, meet, &inside), 0) << TakeError();
}

TEST_F(ParallelTest, NumThreadsIsWhatWasSet) {
  int32_t threads = 0;
  ASSERT_EQ(host->num_threads(host, &threads), 0);
  EXPECT_EQ(threads, 4);
  EXPECT_EQ(kp_set_num_threads(0), -1);
  EXPECT_EQ(TakeError(), "ValueError: kp_set_num_threads: expected 1 to 1024, got 0");
  EXPECT_EQ(kp_set_num_threads(100000), -1);
  EXPECT_EQ(TakeError(), "ValueError: kp_set_num_threads: expected 1 to 1024, got 100000");
  ASSERT_EQ(kp_set_num_threads(1), 0);
  Marks marks(1000);
  ASSERT_EQ(host->parallel_for(host, 1000, 1, Mark, &marks), 0);
  EXPECT_EQ(marks.threads.size(), 1u);
}

TEST_F(ParallelTest, AnErrorOfAnyThreadReachesTheCaller) {
  for (int round = 0; round < 100; ++round) {
    const auto fail = [](void*, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (i == 777) return kp_raise("ValueError", "item %d", static_cast<int>(i));
      }
      return 0;
    };
    ASSERT_EQ(host->parallel_for(host, 1000, 1, fail, nullptr), -1);
    ASSERT_EQ(TakeError(), "ValueError: item 777");
  }
}

TEST_F(ParallelTest, OneErrorWinsWhenAllFail) {
  const auto fail = [](void*, int64_t begin, int64_t) { return kp_raise("ValueError", "%d", static_cast<int>(begin)); };
  EXPECT_EQ(host->parallel_for(host, 1000, 1, fail, nullptr), -1);
  EXPECT_EQ(TakeError().find("ValueError: "), 0u);
}

TEST_F(ParallelTest, FailuresWithoutAnErrorAndThrownValuesAreInternalErrors) {
  EXPECT_EQ(host->parallel_for(host, 10, 1, [](void*, int64_t, int64_t) { return -1; }, nullptr), -1);
  EXPECT_EQ(TakeError(), "InternalError: parallel_for: the body returned -1 without an error");
  EXPECT_EQ(host->parallel_for(host, 10, 1, [](void*, int64_t, int64_t) -> int { throw 42; }, nullptr), -1);
  EXPECT_EQ(TakeError(), "InternalError: parallel_for: threw something that is not a std::exception");
}

TEST_F(ParallelTest, NestedCallsRunOnTheirThread) {
  const auto outer = [](void*, int64_t, int64_t) {
    int32_t threads = 0;
    kp_host()->num_threads(kp_host(), &threads);
    if (threads != 1) return kp_raise("RuntimeError", "%d threads inside", threads);
    Marks marks(500);
    if (kp_host()->parallel_for(kp_host(), 500, 1, Mark, &marks) != 0) return -1;
    const bool own = marks.threads.size() == 1 && *marks.threads.begin() == std::this_thread::get_id();
    return own ? 0 : kp_raise("RuntimeError", "nested on %zu threads", marks.threads.size());
  };
  EXPECT_EQ(host->parallel_for(host, 16, 1, outer, nullptr), 0) << TakeError();
}

TEST_F(ParallelTest, BadArgumentsAreValueErrors) {
  EXPECT_EQ(host->parallel_for(host, 10, 1, nullptr, nullptr), -1);
  EXPECT_EQ(TakeError(), "ValueError: parallel_for: the body is NULL");
  Marks marks(0);
  EXPECT_EQ(host->parallel_for(host, -1, 1, Mark, &marks), -1);
  EXPECT_EQ(TakeError(), "ValueError: parallel_for: n is -1; expected 0 or more");
}

TEST_F(ParallelTest, HugeRangesDoNotOverflow) {
  std::atomic<int64_t> total{0};
  const auto add = [](void* context, int64_t begin, int64_t end) {
    *static_cast<std::atomic<int64_t>*>(context) += end - begin;
    return 0;
  };
  ASSERT_EQ(host->parallel_for(host, INT64_MAX, 1, add, &total), 0);
  EXPECT_EQ(total, INT64_MAX);
}

TEST_F(ParallelTest, ManyCallersAtOnce) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 8; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        Marks marks(200);
        if (host->parallel_for(host, 200, 3, Mark, &marks) != 0) ++wrong;
        for (auto& count : marks.counts) wrong += count != 1;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

// Workers look out for work for a time and then sleep: pauses around that time end in all the ways there are.
TEST_F(ParallelTest, CallsAfterPausesOfAnyLengthRunEveryItemOnce) {
  for (int round = 0; round < 1000; ++round) {
    std::atomic<int> count{0};
    const auto add = [](void* total, int64_t begin, int64_t end) {
      *static_cast<std::atomic<int>*>(total) += static_cast<int>(end - begin);
      return 0;
    };
    ASSERT_EQ(host->parallel_for(host, 16, 1, add, &count), 0);
    ASSERT_EQ(count, 16);
    std::this_thread::sleep_for(std::chrono::microseconds(round % 100));
  }
}

TEST_F(ParallelTest, WorkersMayRunWhereTheProcessMay) {
  cpu_set_t own;
  ASSERT_EQ(sched_getaffinity(0, sizeof own, &own), 0);
  for (int round = 0; round < 20; ++round) {
    const auto same = [](void* wanted, int64_t, int64_t) {
      cpu_set_t cpus;
      sched_getaffinity(0, sizeof cpus, &cpus);
      std::this_thread::sleep_for(std::chrono::microseconds(100));  // for others to join
      return CPU_EQUAL(&cpus, static_cast<cpu_set_t*>(wanted)) ? 0
                                                               : kp_raise("RuntimeError", "%d CPUs", CPU_COUNT(&cpus));
    };
    ASSERT_EQ(host->parallel_for(host, 16, 1, same, &own), 0) << TakeError();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // all asleep
  }
}

TEST_F(ParallelTest, ChunksAreWholeGrainsAndShrink) {
  constexpr int64_t kItems = 10007, kGrain = 10;
  std::pair<std::mutex, std::map<int64_t, int64_t>> chunks;  // by their begin
  const auto note = [](void* context, int64_t begin, int64_t end) {
    auto& [mutex, all] = *static_cast<decltype(chunks)*>(context);
    std::lock_guard lock(mutex);
    all[begin] = end - begin;
    return 0;
  };
  ASSERT_EQ(host->parallel_for(host, kItems, kGrain, note, &chunks), 0);
  int64_t last = kItems;
  for (const auto& [begin, size] : chunks.second) {
    EXPECT_EQ(begin % kGrain, 0);
    EXPECT_LE(size, last);
    last = size;
  }
  EXPECT_LE(chunks.second.begin()->second, kItems / 8);  // several a thread from the start
  EXPECT_EQ(last, kItems % kGrain);
}

// A framework's pool: runs the pieces on threads of its own.
int FrameworkPool(void* context, int64_t n, int64_t, KpParallelBody body, void* body_context) {
  ++*static_cast<int*>(context);
  std::vector<std::thread> threads;
  std::atomic<int> rc{0};
  for (int64_t i = 0; i < n; ++i) {
    threads.emplace_back([=, &rc] {
      if (body(body_context, i, i + 1) != 0) rc = -1;
    });
  }
  for (auto& thread : threads) thread.join();
  return rc;
}

TEST_F(ParallelTest, TheCallingFrameworksPoolIsUsed) {
  int used = 0;
  int stream = 0;
  KpCallContext call{};
  call.device = {KP_DEVICE_CUDA, 0};
  call.stream = &stream;
  call.parallel_for = FrameworkPool;
  call.parallel_context = &used;
  call.parallel_threads = 3;
  kp_call_enter(&call);
  int32_t threads = 0;
  host->num_threads(host, &threads);
  EXPECT_EQ(threads, 3);
  Marks marks(1000);
  EXPECT_EQ(host->parallel_for(host, 1000, 1, Mark, &marks), 0);
  for (auto& count : marks.counts) ASSERT_EQ(count, 1);
  EXPECT_EQ(used, 1);
  const auto same_stream = [](void* wanted, int64_t, int64_t) {
    void* got = nullptr;
    kp_host()->current_stream(kp_host(), {KP_DEVICE_CUDA, 0}, &got);
    return got == wanted ? 0 : kp_raise("RuntimeError", "another stream");
  };
  EXPECT_EQ(host->parallel_for(host, 100, 1, same_stream, &stream), 0) << TakeError();
  const auto fail = [](void*, int64_t, int64_t) { return kp_raise("ValueError", "on a thread of the framework's"); };
  EXPECT_EQ(host->parallel_for(host, 100, 1, fail, nullptr), -1);
  EXPECT_EQ(TakeError(), "ValueError: on a thread of the framework's");
  kp_call_leave(&call);
}

}  // namespace
}  // namespace kernpack_test
