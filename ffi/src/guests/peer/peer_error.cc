// The error slot of a loaded libtvm_ffi, found by name without loading anything.
#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "base/loaded_libraries.h"
#include "values/object/object.h"
#include "guests/peer/peer.h"
#include "guests/peer/version.h"

namespace kernpack::host {
namespace {

struct ErrorSlot {
  void (*move_from_raised)(void** out);
  void (*set_raised)(void* error);
};

constinit LookedUp<ErrorSlot> g_slot;

bool FindSlot(ErrorSlot* out) {
  void* library = FindLoaded(KP_LIBRARY_FILE("tvm_ffi"));
  if (library == nullptr || !IsSupported(GetPeerVersion(library))) return false;
  out->move_from_raised = reinterpret_cast<void (*)(void**)>(FindInLibrary(library, "TVMFFIErrorMoveFromRaised"));
  out->set_raised = reinterpret_cast<void (*)(void*)>(FindInLibrary(library, "TVMFFIErrorSetRaised"));
  return out->move_from_raised != nullptr && out->set_raised != nullptr;
}

// The peer's functions catch every std::exception alike and keep its text only.
void TranslateNoMemory(KpAny* error) noexcept {
  const auto* body = reinterpret_cast<const KpErrorObject*>(error->v.v_obj);
  if (View(body->kind) != "InternalError" || View(body->message) != "std::bad_alloc") return;
  KpAny translated = kp_none();
  if (kp_error_new(kp_bytes("MemoryError"), body->message, body->backtrace, &translated) != 0) return;
  kp_any_release(error);
  *error = translated;
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
  TranslateNoMemory(out);
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
