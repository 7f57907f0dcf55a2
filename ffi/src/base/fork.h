// Locks that are free, and guard consistent data, in a forked child: fork() waits for every one of them.
#ifndef KERNPACK_SRC_BASE_FORK_H_
#define KERNPACK_SRC_BASE_FORK_H_

#include <atomic>
#include <cstdint>
#include <mutex>

namespace kernpack::host {

// The order in which locks may be taken while others are held; fork takes all of them in this order.
enum class LockRank {
  kBindings,
  kHostState,
  kFlight,
  kStorage,
  kWorkspace,
  kModules,
  kRegistry,
  kPool,
  kDevices,
  kNames
};

// A std::mutex that takes part in fork(). Never destroyed (its owners are leaked globals).
class ForkMutex {
 public:
  explicit ForkMutex(LockRank rank);
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  std::mutex& native() { return mutex_; }

 private:
  friend struct ForkHandlers;
  std::mutex mutex_;
  LockRank rank_;
  ForkMutex* next_ = nullptr;
};

// While one lives, fork() on another thread waits, 5 seconds at most: a thread that is starting up what it loads may wait for that
// one. For what a child must not get half done and other people's code runs in, which may fork: the dynamic linker's tables.
class NoFork {
 public:
  NoFork();
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;
  ~NoFork();
};

// True in a forked child of the process that loaded the library. The parent's threads are gone there, and OpenMP runtimes that
// the parent used hang.
bool InForkedChild() noexcept;
// How many forks lie between this process and the one that loaded the library: what was opened at another number belongs to
// an ancestor. Every call of a device asks, so it is read in place.
inline constinit std::atomic<uint32_t> fork_generation{0};  // counted by fork.cc
inline uint32_t ForkGeneration() noexcept { return fork_generation.load(std::memory_order_relaxed); }
// Runs `handler` in every child, after the locks are free again. At most 16 handlers.
void OnForkedChild(void (*handler)());

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_FORK_H_
