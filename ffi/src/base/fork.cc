#include "base/fork.h"

#include <chrono>
#include <thread>

#include "base/os/thread.h"

namespace kernpack::host {
namespace {

// How many of NoFork live: guarded by the mutex, but for this thread's.
constinit std::mutex g_held_mutex;
constinit int g_held = 0;
constinit thread_local int t_held = 0;  // on this thread

}  // namespace

struct ForkHandlers {
  static constexpr int kMaxHandlers = 16;
  inline static constinit std::mutex list_mutex;
  inline static constinit ForkMutex* list = nullptr;  // sorted by rank
  using Handler = void (*)();
  inline static constinit Handler handlers[kMaxHandlers] = {};

  static void Prepare() {
    constexpr int kLongest = 5000;
    for (int milliseconds = 0;; ++milliseconds) {
      list_mutex.lock();
      for (ForkMutex* m = list; m != nullptr; m = m->next_) m->mutex_.lock();
      // Last, because a thread that makes a NoFork may hold one of them.
      g_held_mutex.lock();
      if (g_held == t_held || milliseconds == kLongest) return;
      Release();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  static void Release() {
    g_held_mutex.unlock();
    for (ForkMutex* m = list; m != nullptr; m = m->next_) m->mutex_.unlock();
    list_mutex.unlock();
  }
  static void Child() {
    g_held = t_held;
    Release();
    fork_generation.fetch_add(1, std::memory_order_relaxed);
    for (const Handler handler : handlers) {
      if (handler != nullptr) handler();
    }
  }
  static void Add(ForkMutex* added) {
    std::lock_guard lock(list_mutex);
    ForkMutex** place = &list;
    while (*place != nullptr && (*place)->rank_ <= added->rank_) place = &(*place)->next_;
    added->next_ = *place;
    *place = added;
  }
};

namespace {

// At load, because a fork before the first use must be seen as well.
__attribute__((constructor)) void Install() {
  os::AtFork(ForkHandlers::Prepare, ForkHandlers::Release, ForkHandlers::Child);
}

}  // namespace

NoFork::NoFork() {
  const std::lock_guard lock(g_held_mutex);
  ++g_held;
  ++t_held;
}

NoFork::~NoFork() {
  const std::lock_guard lock(g_held_mutex);
  --g_held;
  --t_held;
}

ForkMutex::ForkMutex(LockRank rank) : rank_(rank) { ForkHandlers::Add(this); }

bool InForkedChild() noexcept { return ForkGeneration() != 0; }

void OnForkedChild(void (*handler)()) {
  std::lock_guard lock(ForkHandlers::list_mutex);
  for (ForkHandlers::Handler& slot : ForkHandlers::handlers) {
    if (slot == nullptr || slot == handler) {
      slot = handler;
      return;
    }
  }
}

}  // namespace kernpack::host
