#include "devices/parallel/cpu_contention.h"

#include <atomic>

#include "base/os/processors.h"

namespace kernpack::host {
namespace {

using Ticks = ParallelClock::rep;

constexpr Ticks kMostLost = ParallelClock::duration(std::chrono::milliseconds(5)).count();
constexpr ParallelClock::duration kAlone = std::chrono::milliseconds(100);
constexpr int64_t kPushedOff = 2;  // times that threads of ours lost their CPU: on an idle machine that doesn't happen

// Threads that race here lose an update at worst.
constinit std::atomic<Ticks> g_lost{0};  // by waiting rather than working alone, of late
constinit std::atomic<Ticks> g_alone_until{0};
constinit std::atomic<int64_t> g_pushed_off{0};  // when last looked at

bool WerePushedOff() noexcept {
  const int64_t times = os::CountPreemptions();
  return times >= 0 && times - g_pushed_off.exchange(times, std::memory_order_relaxed) >= kPushedOff;
}

}  // namespace

bool IsCrowded() noexcept {
  const Ticks until = g_alone_until.load(std::memory_order_relaxed);
  return until != 0 && ParallelClock::now().time_since_epoch().count() < until;
}

void NoteJob(int32_t width, ParallelClock::duration work, ParallelClock::duration wait) noexcept {
  // Alone, the caller would have worked `width` times as long.
  const Ticks lost = g_lost.load(std::memory_order_relaxed) + wait.count() - (width - 1) * work.count();
  if (lost < kMostLost) {
    g_lost.store(lost > 0 ? lost : 0, std::memory_order_relaxed);
    return;
  }
  g_lost.store(0, std::memory_order_relaxed);
  if (WerePushedOff()) {
    const auto until = ParallelClock::now() + kAlone;
    g_alone_until.store(until.time_since_epoch().count(), std::memory_order_relaxed);
  }
}

}  // namespace kernpack::host
