#include "backends/cuda/jit_jobs.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace kernpack::cuda {
namespace {

struct JitQueue {
  const pid_t process = getpid();  // a forked child has none of the threads
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<JitJob>> waiting;
  size_t threads = 0;
  std::atomic<bool> ends{false};
};

// Never freed: threads use it until the process is gone.
JitQueue* JobQueue() {
  static std::atomic<JitQueue*> current{nullptr};
  JitQueue* queue = current.load();
  if (queue != nullptr && queue->process == getpid()) return queue;
  auto* const made = new JitQueue();
  if (current.compare_exchange_strong(queue, made)) return made;
  delete made;
  return current.load();
}

void EndJobs() {
  JitQueue* const queue = JobQueue();
  std::unique_lock lock(queue->mutex);
  queue->ends = true;
  queue->waiting.clear();
  queue->changed.wait(lock, [queue] { return queue->threads == 0; });
}

void RunJob(JitJob* job) noexcept {
  try {
    job->built = BuildJit(nullptr, *job->source, job->unit, job->target, job->tools, &job->code, &job->error);
  } catch (const std::exception& error) {
    job->error = {"RuntimeError", job->target.who + ": " + error.what()};
  }
  job->done.store(true, std::memory_order_release);
}

void RunJobs(JitQueue* queue) {
  std::unique_lock lock(queue->mutex);
  while (!queue->waiting.empty()) {
    const std::shared_ptr<JitJob> job = std::move(queue->waiting.front());
    queue->waiting.pop_front();
    lock.unlock();
    RunJob(job.get());
    lock.lock();
    queue->changed.notify_all();
  }
  --queue->threads;
  queue->changed.notify_all();
}

}  // namespace

void StartJit(const std::shared_ptr<JitJob>& job) {
  // Before the job's thread begins: the process may end before that thread has loaded NVRTC, or where there is none.
  static const int registered = std::atexit(EndJobs);
  static_cast<void>(registered);
  JitQueue* const queue = JobQueue();
  const std::lock_guard lock(queue->mutex);
  if (queue->ends) return;  // the process does, and nobody waits for it
  queue->waiting.push_back(job);
  if (queue->threads >= std::max(std::thread::hardware_concurrency(), 1U)) return;
  std::thread(RunJobs, queue).detach();
  ++queue->threads;
}

int WaitForJit(const KpHost* host, const JitJob& job) {
  JitQueue* const queue = JobQueue();
  std::unique_lock lock(queue->mutex);
  const auto is_done = [&job] { return job.done.load(std::memory_order_acquire); };
  while (!queue->changed.wait_for(lock, std::chrono::milliseconds(50), is_done)) {
    lock.unlock();
    if (host->check_interrupts(host) != 0) return -1;
    lock.lock();
  }
  return 0;
}

bool JitEnds() { return JobQueue()->ends; }

void EndJobsAtExit() {
  // The handlers that were registered last run first, so this one runs before those of NVRTC. StartJit's runs after them.
  static const int registered = std::atexit(EndJobs);
  static_cast<void>(registered);
}

}  // namespace kernpack::cuda
