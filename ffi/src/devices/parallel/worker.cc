#include "devices/parallel/worker.h"

#include <pthread.h>

namespace kernpack::host {

void Worker::WakeElsewhere() {
  if (cpus_) return;
  cpu_set_t cpus;
  const int here = sched_getcpu();
  if (here < 0 || pthread_getaffinity_np(thread.native_handle(), sizeof cpus, &cpus) != 0) return;
  cpu_set_t others = cpus;
  CPU_CLR(static_cast<unsigned>(here), &others);
  if (CPU_COUNT(&others) == 0 || CPU_EQUAL(&others, &cpus)) return;
  if (pthread_setaffinity_np(thread.native_handle(), sizeof others, &others) == 0) cpus_ = cpus;
}

void Worker::RunAnywhere() {
  if (cpus_) pthread_setaffinity_np(pthread_self(), sizeof *cpus_, &*cpus_);
  cpus_.reset();
}

}  // namespace kernpack::host
