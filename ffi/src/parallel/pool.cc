#include "parallel/pool.h"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <list>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include <kernpack/host/host.h>

#include "base/fork.h"
#include "base/leaked.h"
#include "base/read_once.h"
#include "log/log.h"
#include "parallel/width.h"

namespace kernpack::host {
namespace {

struct Task {
  Job* job;
  int32_t seats;   // how many more workers may join
  int32_t active;  // workers inside
};

struct Pool {
  Pool() { OnForkedChild(ForgetParents); }
  static void ForgetParents();

  ForkMutex mutex{LockRank::kPool};
  std::condition_variable_any work;
  std::condition_variable_any done;
  std::list<Task*> tasks;
  std::vector<std::thread> workers;
  bool stopping = false;
};

// A child has none of the parent's workers; what stood for them is abandoned, not destroyed.
void Pool::ForgetParents() {
  auto& pool = Leaked<Pool>();
  new (&pool.work) std::condition_variable_any();
  new (&pool.done) std::condition_variable_any();
  new (&pool.tasks) std::list<Task*>();
  new (&pool.workers) std::vector<std::thread>();
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

void WorkerLoop() {
  auto& pool = Leaked<Pool>();
  pthread_setname_np(pthread_self(), "kernpack");
  std::unique_lock lock(pool.mutex);
  while (true) {
    Task* task = nullptr;
    pool.work.wait(lock, [&] { return pool.stopping || (task = Seat(pool)) != nullptr; });
    if (task == nullptr) return;
    lock.unlock();
    task->job->Work();
    lock.lock();
    if (--task->active == 0) pool.done.notify_all();
  }
}

// Starts workers until there are `wanted`. Signals are for the program's own threads. Fewer workers are no error.
void EnsureWorkers(Pool& pool, size_t wanted) {
  if (pool.workers.size() >= wanted) return;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    while (pool.workers.size() < wanted) pool.workers.emplace_back(WorkerLoop);
  } catch (const std::system_error&) {
    Log(KP_LOG_WARNING, "parallel_for: the system allows no more threads; going on with fewer");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

int32_t PoolWidth() noexcept {
  const int32_t requested = RequestedThreads();
  if (requested > 0) return requested;
  return ReadOnce<AvailableCpus>();
}

void RunOnPool(Job& job, int32_t width) {
  auto& pool = Leaked<Pool>();
  Task task{&job, width - 1, 0};
  std::list<Task*> own{&task};
  {
    std::lock_guard lock(pool.mutex);
    EnsureWorkers(pool, static_cast<size_t>(width - 1));
    pool.tasks.splice(pool.tasks.end(), own, own.begin());
  }
  if (width == 2) {
    pool.work.notify_one();
  } else {
    pool.work.notify_all();
  }
  job.Work();
  std::unique_lock lock(pool.mutex);
  pool.tasks.remove(&task);
  pool.done.wait(lock, [&] { return task.active == 0; });
}

void StopPool() {
  auto& pool = Leaked<Pool>();
  std::vector<std::thread> ending;
  {
    std::lock_guard lock(pool.mutex);
    pool.stopping = true;
    ending.swap(pool.workers);
  }
  pool.work.notify_all();
  for (std::thread& worker : ending) worker.join();
  std::lock_guard lock(pool.mutex);
  pool.stopping = false;
}

}  // namespace kernpack::host
