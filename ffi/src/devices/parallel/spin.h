// Waiting for what another thread is about to do, without the tens of microseconds that sleeping and waking take.
#ifndef KERNPACK_SRC_DEVICES_PARALLEL_SPIN_H_
#define KERNPACK_SRC_DEVICES_PARALLEL_SPIN_H_

#include <chrono>

namespace kernpack::host {

// About what a sleep and a wake-up cost: spinning longer would waste more than it can save.
inline constexpr std::chrono::microseconds kSpinTime{50};

// Tells the processor that this is a waiting loop: its other hardware thread gets the core.
inline void Pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // `yield` does nothing on most of these processors
#endif
}

// Spins until `ready` is true, for kSpinTime at most. Returns true if it became true.
template <class F>
bool SpinUntil(F ready) {
  constexpr int kPausesBetweenClocks = 16;
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < kPausesBetweenClocks; ++i) {
      if (ready()) return true;
      Pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_PARALLEL_SPIN_H_
