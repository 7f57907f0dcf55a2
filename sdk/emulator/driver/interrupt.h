// Ctrl-C while a kernel runs: it ends, and whoever handled the signal before handles it too.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_INTERRUPT_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_INTERRUPT_H_

#include <atomic>

namespace kernpack::cuda {

// While there is one, SIGINT sets the flag first. Where nobody handles the signal, nothing is changed: the process ends, or ignores
// it.
class Interruptible {
 public:
  Interruptible();
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  const std::atomic<bool>* flag() const;
};

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_INTERRUPT_H_
