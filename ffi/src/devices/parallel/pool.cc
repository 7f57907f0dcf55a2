#include "devices/parallel/pool.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <new>
#include <system_error>

#include <kernpack/host/host.h>

#include "base/fork.h"
#include "base/leaked.h"
#include "base/read_once.h"
#include "base/log.h"
#include "base/os/processors.h"
#include "base/os/thread.h"
#include "devices/parallel/cpu_contention.h"
#include "devices/parallel/spin.h"

namespace kernpack::host {
namespace {

// Placing a worker is a system call of the caller's. Where CPUs are many the kernel finds an idle one well enough.
// A thread of the pool. Guarded by the pool's lock.
struct Worker {
  std::thread thread;
  bool asleep = false;
  // A worker that sleeps is kept off the CPU of the thread that wakes it, which is about to be busy. Kernels that save power, and those
  // of virtual machines, take an idle CPU for one that is slow to start, and leave both threads on one for milliseconds.
  os::Placement placement;
};

constexpr size_t kFewWorkers = 8;

struct Task {
  Job* job;
  int32_t seats;  // how many more workers may join
  std::atomic<int32_t> active{0};  // workers inside; no touch of the task after this became 0
};

struct Pool {
  Pool() { OnForkedChild(ForgetParents); }
  static void ForgetParents();

  ForkMutex mutex{LockRank::kPool};
  std::condition_variable_any work;
  std::condition_variable_any done;
  std::list<Task*> tasks;
  std::list<Worker> workers;
  std::atomic<uint32_t> posted{0};  // tasks so far: what spinning workers look at without the lock
  int32_t spinning = 0;
  bool stopping = false;

  bool HasCpuForEach() const { return workers.size() < static_cast<size_t>(ReadOnce<os::CountUsableProcessors>()); }
};

// A child has none of the parent's workers; what stood for them is abandoned, not destroyed.
void Pool::ForgetParents() {
  auto& pool = Leaked<Pool>();
  new (&pool.work) std::condition_variable_any();
  new (&pool.done) std::condition_variable_any();
  new (&pool.tasks) std::list<Task*>();
  new (&pool.workers) std::list<Worker>();
  pool.spinning = 0;
  pool.stopping = false;
}

Task* Seat(Pool& pool) {
  for (Task* task : pool.tasks) {
    if (task->seats > 0) {
      --task->seats;
      ++task->active;
      return task;
    }
  }
  return nullptr;
}

void Sleep(Pool& pool, std::unique_lock<ForkMutex>& lock, Worker& self) {
  self.asleep = true;
  pool.work.wait(lock);
  self.asleep = false;
  self.placement.Restore();
}

void LookOut(Pool& pool, std::unique_lock<ForkMutex>& lock) {
  const uint32_t seen = pool.posted.load(std::memory_order_relaxed);
  ++pool.spinning;
  lock.unlock();
  SpinUntil([&] { return pool.posted.load(std::memory_order_relaxed) != seen; });
  lock.lock();
  --pool.spinning;
}

void WorkerLoop(Worker& self) {
  auto& pool = Leaked<Pool>();
  os::NameThread("kernpack");
  std::unique_lock lock(pool.mutex);
  bool worked = false;
  while (!pool.stopping) {
    if (Task* task = Seat(pool)) {
      lock.unlock();
      task->job->Work();
      lock.lock();
      if (task->active.fetch_sub(1, std::memory_order_release) == 1) pool.done.notify_all();
      worked = true;
    } else if (worked && pool.HasCpuForEach()) {
      LookOut(pool, lock);
      worked = false;
    } else {
      Sleep(pool, lock, self);
    }
  }
}

// Starts workers until there are `wanted`, with all signals blocked, for signals go to the program's own threads. Fewer workers
// aren't an error.
void EnsureWorkers(Pool& pool, size_t wanted) {
  if (pool.workers.size() >= wanted) return;
  const os::SignalsBlocked blocked;
  try {
    while (pool.workers.size() < wanted) {
      Worker& worker = pool.workers.emplace_back();
      worker.thread = std::thread(WorkerLoop, std::ref(worker));
    }
  } catch (const std::system_error&) {
    pool.workers.pop_back();
    Log(KP_LOG_WARNING, "parallel_for: the system allows no more threads; going on with fewer");
  }
}

}  // namespace

int32_t PoolWidth() noexcept {
  const int32_t requested = RequestedThreads();
  if (requested > 0) return requested;
  return ReadOnce<os::CountUsableProcessors>();
}

void RunOnPool(Job& job, int32_t width) {
  auto& pool = Leaked<Pool>();
  Task task{&job, width - 1};
  std::list<Task*> own{&task};
  bool must_wake = false;
  bool may_spin = false;
  {
    std::lock_guard lock(pool.mutex);
    EnsureWorkers(pool, static_cast<size_t>(width - 1));
    pool.tasks.splice(pool.tasks.end(), own, own.begin());
    pool.posted.fetch_add(1, std::memory_order_relaxed);
    may_spin = pool.HasCpuForEach();
    must_wake = pool.spinning < task.seats;
    if (must_wake && pool.workers.size() <= kFewWorkers) {
      for (Worker& worker : pool.workers) {
        if (worker.asleep) worker.placement.KeepOffCaller(worker.thread);
      }
    }
  }
  if (must_wake && width == 2) {
    pool.work.notify_one();
  } else if (must_wake) {
    pool.work.notify_all();
  }
  const auto start = ParallelClock::now();
  job.Work();
  const auto done = ParallelClock::now();
  {
    std::lock_guard lock(pool.mutex);
    pool.tasks.remove(&task);
  }
  const auto is_alone = [&] { return task.active.load(std::memory_order_acquire) == 0; };
  if (!(may_spin ? SpinUntil(is_alone) : is_alone())) {
    std::unique_lock lock(pool.mutex);
    pool.done.wait(lock, is_alone);
  }
  NoteJob(width, done - start, ParallelClock::now() - done);
}

void StopPool() {
  auto& pool = Leaked<Pool>();
  std::list<Worker> ending;
  {
    std::lock_guard lock(pool.mutex);
    pool.stopping = true;
    ending.swap(pool.workers);
  }
  pool.work.notify_all();
  for (Worker& worker : ending) worker.thread.join();
  std::lock_guard lock(pool.mutex);
  pool.stopping = false;
}

}  // namespace kernpack::host
