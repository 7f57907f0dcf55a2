#include "driver/interrupt.h"

#include <csignal>
#include <mutex>

namespace kernpack::cuda {
namespace {

std::atomic<bool> interrupted{false};
std::mutex mutex;  // guards what follows; the handler reads `previous`, which is there before the handler is
int depth = 0;
bool installed = false;
struct sigaction previous{};

void OnInterrupt(int signal, siginfo_t* info, void* context) {
  interrupted.store(true, std::memory_order_relaxed);
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else {
    previous.sa_handler(signal);
  }
}

}  // namespace

Interruptible::Interruptible() {
  const std::lock_guard lock(mutex);
  if (depth++ != 0) return;
  interrupted.store(false, std::memory_order_relaxed);
  if (sigaction(SIGINT, nullptr, &previous) != 0) return;
  const bool handled =
      (previous.sa_flags & SA_SIGINFO) != 0 || (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN);
  if (!handled) return;
  struct sigaction ours{};
  ours.sa_sigaction = OnInterrupt;
  ours.sa_flags = SA_SIGINFO | (previous.sa_flags & (SA_ONSTACK | SA_RESTART));
  ours.sa_mask = previous.sa_mask;
  installed = sigaction(SIGINT, &ours, nullptr) == 0;
}

Interruptible::~Interruptible() {
  const std::lock_guard lock(mutex);
  if (--depth != 0 || !installed) return;
  installed = false;
  sigaction(SIGINT, &previous, nullptr);
}

const std::atomic<bool>* Interruptible::flag() const { return &interrupted; }

}  // namespace kernpack::cuda
