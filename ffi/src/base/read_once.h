// A fact that is worked out on first use and never changes after. Threads that ask at the same time may each work it out:
// a lock, even the compiler's for a local static, could be held by another thread at the time of a fork(), and the child
// would wait for ever.
#ifndef KERNPACK_SRC_BASE_READ_ONCE_H_
#define KERNPACK_SRC_BASE_READ_ONCE_H_

#include <atomic>

namespace kernpack::host {

template <auto Read>
auto ReadOnce() noexcept {
  using Value = decltype(Read());
  static constinit std::atomic<Value> value{};
  static constinit std::atomic<bool> known{false};
  if (!known.load(std::memory_order_acquire)) {
    value.store(Read(), std::memory_order_relaxed);
    known.store(true, std::memory_order_release);
  }
  return value.load(std::memory_order_relaxed);
}

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_READ_ONCE_H_
