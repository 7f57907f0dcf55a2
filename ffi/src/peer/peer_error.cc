// The error slot of a loaded libtvm_ffi, found by name without loading anything.
#include <dlfcn.h>

#include "base/loaded.h"
#include "base/looked_up.h"
#include "object/object.h"
#include "peer/peer.h"

namespace kernpack::host {
namespace {

struct ErrorSlot {
  void (*move_from_raised)(void** out);
  void (*set_raised)(void* error);
};

constinit LookedUp<ErrorSlot> g_slot;

bool FindSlot(ErrorSlot* out) {
  void* library = FindLoaded("libtvm_ffi.so");
  if (library == nullptr) return false;
  out->move_from_raised = reinterpret_cast<void (*)(void**)>(dlsym(library, "TVMFFIErrorMoveFromRaised"));
  out->set_raised = reinterpret_cast<void (*)(void*)>(dlsym(library, "TVMFFIErrorSetRaised"));
  return out->move_from_raised != nullptr && out->set_raised != nullptr;
}

const ErrorSlot* Lookup() noexcept { return g_slot.Get(FindSlot); }

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
