// Opening a backend: once, by one thread, with no lock held while its driver starts.
#include <condition_variable>
#include <mutex>
#include <new>

#include <kernpack/host/device.h>

#include "shared/bytes.h"
#include "base/fork.h"
#include "base/guard.h"
#include "base/leaked.h"
#include "base/os/thread.h"
#include "devices/registry.h"
#include "values/object/object.h"

namespace kernpack::host {
namespace {

struct Opening {
  ForkMutex mutex{LockRank::kDevices};
  std::condition_variable_any opened;  // made anew in a forked child: it may hold waiters of the parent
  struct Flight {
    uint32_t generation;
    uintptr_t thread;  // os::GetThreadIdentity()
  } flights[kMaxBackends] = {};

  Opening() {
    OnForkedChild([] { new (&Leaked<Opening>().opened) std::condition_variable_any(); });
  }
};

std::string TextOr(const KpAny& reason, const char* otherwise) {
  KpBytes text{};
  return kp_any_str(&reason, &text) && text.size != 0 ? std::string(View(text)) : otherwise;
}

// Returns the state that the backend is in from now on, or -1 with an error raised.
int Start(Backend* backend) {
  const KpDeviceApi* inner = nullptr;
  OwnedAny why;
  if (backend->definition->open(kp_host(), backend->type, &inner, why.out()) != 0) return -1;
  if (OwnText(why.out()) != 0) return -1;
  if (inner == nullptr) {
    backend->reason = TextOr(why.get(), "its backend gives no reason");
    return Backend::kUnavailable;
  }
  if (CheckTable(*backend->definition, inner) != 0) return -1;
  backend->api.count = 0;
  OwnedAny none;
  if (inner->count(inner, &backend->api.count, none.out()) != 0 || OwnText(none.out()) != 0) return -1;
  if (backend->api.count <= 0) {
    backend->reason = TextOr(none.get(), "its driver finds no device");
    return Backend::kUnavailable;
  }
  MakeForwarding(inner, &backend->api);
  return Backend::kOpen;
}

bool IsOpened(const Backend& backend) {
  const int state = backend.state.load(std::memory_order_acquire);
  return state == Backend::kOpen || state == Backend::kUnavailable;
}

}  // namespace

int OpenBackend(Backend* backend) {
  if (IsOpened(*backend)) return 0;
  auto& opening = Leaked<Opening>();
  Opening::Flight& flight = opening.flights[backend->api.number];
  {
    std::unique_lock lock(opening.mutex);
    while (backend->state.load(std::memory_order_relaxed) == Backend::kOpening) {
      // A child was forked while its parent opened the driver: what the parent's thread had begun is lost.
      if (flight.generation != ForkGeneration()) break;
      if (flight.thread == os::GetThreadIdentity()) {
        return kp_raise("RuntimeError", "backend %s asks for its own devices while it is opened",
                        backend->definition->name);
      }
      opening.opened.wait(lock);
    }
    if (IsOpened(*backend)) return 0;
    flight = {ForkGeneration(), os::GetThreadIdentity()};
    backend->state.store(Backend::kOpening, std::memory_order_relaxed);
  }
  int state = -1;
  try {
    state = Start(backend);
  } catch (...) {
    state = RaiseCurrentException("opening a device backend");
  }
  {
    const std::lock_guard lock(opening.mutex);
    backend->state.store(state < 0 ? Backend::kClosed : state, std::memory_order_release);
  }
  opening.opened.notify_all();
  return state < 0 ? -1 : 0;
}

}  // namespace kernpack::host
