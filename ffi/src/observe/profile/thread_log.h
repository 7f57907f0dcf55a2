// The times of a thread's calls. A thread writes to a chunk of its own, without a lock; profiles read it when it's full, or when
// they end.
#ifndef KERNPACK_SRC_OBSERVE_PROFILE_THREAD_LOG_H_
#define KERNPACK_SRC_OBSERVE_PROFILE_THREAD_LOG_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>

#include "base/fork.h"
#include "observe/profile/entry.h"

namespace kernpack::host::profile {

// One call. Times are nanoseconds of CLOCK_MONOTONIC.
struct Event {
  const Entry* entry;
  uint64_t begin, end;
  uint64_t nested;  // of that time, spent in calls that the kernel made
  uint64_t bytes;  // of all tensors among its arguments and results
  uint64_t failed;
};

inline uint64_t Now() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

struct Chunk {
  static constexpr uint32_t kEvents = 1024;
  std::array<Event, kEvents> events;
  std::atomic<uint32_t> size{0};  // what is below it stays as it is
  int64_t thread;
  std::string thread_name;
};

class ThreadLog {
 public:
  // NULL: the thread is about to end, or there is no memory.
  static ThreadLog* OfThisThread() noexcept {
    ThreadLog* log = mine_;
    return __builtin_expect(log != nullptr, 1) ? log : Make();
  }

  void Add(const Event& event) noexcept {
    uint32_t at = chunk_->size.load(std::memory_order_relaxed);
    if (__builtin_expect(at == Chunk::kEvents, 0)) {
      if (!HandOver()) return;
      at = 0;
    }
    chunk_->events[at] = event;
    chunk_->size.store(at + 1, std::memory_order_release);
  }

  // Under Recorder's lock, or by the thread itself.
  const std::shared_ptr<Chunk>& chunk() const { return chunk_; }

  uint64_t nested = 0;  // time of the calls that the call in progress made

 private:
  friend struct ThreadEnd;
  friend void ForgetParent();
  static ThreadLog* Make() noexcept;
  bool HandOver() noexcept;  // false: no memory for another chunk, and the call isn't recorded

  static constinit thread_local ThreadLog* mine_;
  std::shared_ptr<Chunk> chunk_;
};

}  // namespace kernpack::host::profile

#endif  // KERNPACK_SRC_OBSERVE_PROFILE_THREAD_LOG_H_
