// On which threads does parallel_for run its chunks?
#include <dlfcn.h>
#include <kernpack/kernel.h>
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>

namespace kp = kernpack;

namespace {

// [threads that ran chunks, chunks that ran inside an OpenMP region, chunks]. Every chunk waits until `expected` threads have
// one, so that the figure doesn't depend on how fast threads wake; then it takes a moment, so that one thread too many shows.
kp::Array Census(int64_t chunks, int64_t expected) {
  const auto in_parallel = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_in_parallel"));
  std::mutex mutex;
  std::condition_variable came;
  std::set<pthread_t> threads;
  int64_t inside = 0;
  int64_t ran = 0;
  kp::parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    {
      std::unique_lock<std::mutex> lock(mutex);
      threads.insert(pthread_self());
      ran += end - begin;
      if (in_parallel && in_parallel()) inside += end - begin;
      came.notify_all();
      came.wait_for(lock, std::chrono::seconds(20), [&] { return static_cast<int64_t>(threads.size()) >= expected; });
    }
    usleep(2000);
  });
  return kp::Array{static_cast<int64_t>(threads.size()), inside, ran};
}

// Threads that a parallel_for inside a parallel_for used, at most.
int64_t Nested() {
  std::mutex mutex;
  size_t most = 0;
  kp::parallel_for(8, 1, [&](int64_t, int64_t) {
    std::mutex inner_mutex;
    std::set<pthread_t> threads;
    kp::parallel_for(8, 1, [&](int64_t, int64_t) {
      const std::lock_guard<std::mutex> lock(inner_mutex);
      threads.insert(pthread_self());
    });
    const std::lock_guard<std::mutex> lock(mutex);
    if (threads.size() > most) most = threads.size();
  });
  return static_cast<int64_t>(most);
}

void Fail(int64_t at) {
  kp::parallel_for(64, 1, [at](int64_t begin, int64_t end) {
    usleep(500);
    if (begin <= at && at < end) KP_THROW(ValueError) << "item " << at << " is bad";
  });
}

}  // namespace

KP_MODULE("threads", "1.0.0");
KP_EXPORT(census, Census);
KP_EXPORT(nested, Nested);
KP_EXPORT(fail, Fail);
