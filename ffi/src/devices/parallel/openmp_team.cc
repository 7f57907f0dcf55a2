#include "devices/parallel/openmp.h"

#include <atomic>
#include <thread>

#include "devices/parallel/cpu_contention.h"
#include "devices/parallel/pool.h"

namespace kernpack::host {
namespace {

constinit std::atomic<ParallelClock::rep> g_avoided_until{0};

struct Region {
  Job* job;
  std::thread::id caller;
  ParallelClock::duration work;  // how long the caller had chunks
  std::atomic<bool> was_late{false};  // a thread came after the last chunk was taken
};

void WorkInRegion(void* data) {
  auto* region = static_cast<Region*>(data);
  const bool is_caller = std::this_thread::get_id() == region->caller;
  const auto start = is_caller ? ParallelClock::now() : ParallelClock::time_point();
  const bool worked = region->job->Work();
  if (is_caller) {
    region->work = ParallelClock::now() - start;
  } else if (!worked) {
    region->was_late.store(true, std::memory_order_relaxed);
  }
}

}  // namespace

void RunOnOpenMp(const OpenMp& openmp, Job& job, int32_t width) {
  const auto start = ParallelClock::now();
  if (start.time_since_epoch().count() < g_avoided_until.load(std::memory_order_relaxed)) return RunOnPool(job, width);
  Region region{&job, std::this_thread::get_id(), {}};
  openmp.parallel(WorkInRegion, &region, static_cast<unsigned>(width), 0);
  const auto end = ParallelClock::now();
  const auto wait = end - start - region.work;  // for the others, to begin with and in the end
  if (region.was_late.load(std::memory_order_relaxed) && wait > kLatest) {
    g_avoided_until.store((end + kAvoided).time_since_epoch().count(), std::memory_order_relaxed);
  } else {
    NoteJob(width, region.work, wait);
  }
}

}  // namespace kernpack::host
