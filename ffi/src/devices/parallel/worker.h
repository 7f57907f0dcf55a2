// A thread of our pool, and where it wakes up.
#ifndef KERNPACK_SRC_DEVICES_PARALLEL_WORKER_H_
#define KERNPACK_SRC_DEVICES_PARALLEL_WORKER_H_

#include <sched.h>

#include <optional>
#include <thread>

namespace kernpack::host {

// Guarded by the pool's lock.
class Worker {
 public:
  std::thread thread;
  bool asleep = false;

  // Of one that sleeps: it will not wake on the CPU of this thread, which is about to be busy. Kernels that save power,
  // and those of virtual machines, take an idle CPU for one that is slow to start, and leave both threads on one for
  // milliseconds.
  void WakeElsewhere();
  // By itself, once awake: it may run where it might before.
  void RunAnywhere();

 private:
  std::optional<cpu_set_t> cpus_;  // before WakeElsewhere
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_PARALLEL_WORKER_H_
