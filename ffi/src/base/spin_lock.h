// A lock for a handful of instructions: half the cost of a mutex where nobody else wants it, a yield where somebody does.
#ifndef KERNPACK_SRC_BASE_SPIN_LOCK_H_
#define KERNPACK_SRC_BASE_SPIN_LOCK_H_

#include <atomic>

#include "base/os/thread.h"

namespace kernpack::host {

// A fork leaves it as it was: see OnForkedChild.
class SpinLock {
 public:
  void lock() noexcept {
    while (held_.exchange(true, std::memory_order_acquire)) os::Yield();
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }
  bool held() const noexcept { return held_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> held_{false};
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_SPIN_LOCK_H_
