// A lock whose readers do not meet: each thread locks a mutex of its own, a writer locks them all. Reads are many and from
// every thread, writes are one a key.
#ifndef KERNPACK_SRC_DEVICES_STORAGE_READ_LOCK_H_
#define KERNPACK_SRC_DEVICES_STORAGE_READ_LOCK_H_

#include <mutex>

#include "base/fork.h"
#include "base/thread_index.h"

namespace kernpack::host {

class ReadLock {
 public:
  // Held for reading. The critical section must not allocate, release objects or call out.
  std::unique_lock<ForkMutex> Read() { return std::unique_lock(slots_[ThreadIndex() % kSlots].mutex); }

  // Held for writing.
  void lock() {
    for (Slot& slot : slots_) slot.mutex.lock();
  }
  void unlock() {
    for (Slot& slot : slots_) slot.mutex.unlock();
  }

 private:
  static constexpr unsigned kSlots = 32;
  struct alignas(64) Slot {
    ForkMutex mutex{LockRank::kStorage};
  };
  Slot slots_[kSlots];
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_STORAGE_READ_LOCK_H_
