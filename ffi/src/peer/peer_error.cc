// The error slot of a loaded libtvm_ffi, found by name without loading anything.
#include <dlfcn.h>

#include <atomic>
#include <new>

#include "base/loaded.h"
#include "object/object.h"
#include "peer/peer.h"

namespace kernpack::host {
namespace {

struct ErrorSlot {
  void (*move_from_raised)(void** out);
  void (*set_raised)(void* error);
};

constinit std::atomic<const ErrorSlot*> g_slot{nullptr};
constinit std::atomic<unsigned long long> g_absent_at{0};

const ErrorSlot* Lookup() noexcept {
  if (const ErrorSlot* slot = g_slot.load(std::memory_order_acquire)) return slot;
  const unsigned long long loads = LoadCount();
  if (g_absent_at.load(std::memory_order_relaxed) == loads) return nullptr;
  void* library = FindLoaded("libtvm_ffi.so");
  if (library == nullptr) {
    g_absent_at.store(loads, std::memory_order_relaxed);
    return nullptr;
  }
  ErrorSlot found{reinterpret_cast<void (*)(void**)>(dlsym(library, "TVMFFIErrorMoveFromRaised")),
                  reinterpret_cast<void (*)(void*)>(dlsym(library, "TVMFFIErrorSetRaised"))};
  if (found.move_from_raised == nullptr || found.set_raised == nullptr) {
    g_absent_at.store(loads, std::memory_order_relaxed);
    return nullptr;
  }
  const ErrorSlot* none = nullptr;
  const auto* kept = new (std::nothrow) ErrorSlot(found);  // for ever; threads that race here agree on the first
  if (kept == nullptr) return nullptr;
  if (g_slot.compare_exchange_strong(none, kept, std::memory_order_acq_rel)) return kept;
  delete kept;
  return none;
}

}  // namespace

bool PeerTakeError(KpAny* out) noexcept {
  const ErrorSlot* slot = Lookup();
  if (slot == nullptr) return false;
  void* error = nullptr;
  slot->move_from_raised(&error);
  if (error == nullptr) return false;
  SetObject(out, error);
  return true;
}

void PeerSetError(KpObject* error) noexcept {
  const ErrorSlot* slot = Lookup();
  if (slot == nullptr) return;
  if (error != nullptr) {
    slot->set_raised(error);
    return;
  }
  KpAny dropped = kp_none();
  if (PeerTakeError(&dropped)) kp_any_release(&dropped);
}

}  // namespace kernpack::host
