#include "values/error/slot.h"

#include <cstdarg>
#include <cstdio>
#include <string>

#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "base/os/thread.h"
#include "values/error/error_object.h"
#include "base/services.h"
#include "values/object/object.h"
#include "values/guests.h"

namespace kernpack::host {
namespace {

constinit thread_local KpObject* t_error = nullptr;
constinit thread_local bool t_watched = false;

// A thread that ends with an error pending must not leak it.
const os::ThreadValue g_watched([](void*) {
  kp_release(t_error);
  t_error = nullptr;
  t_watched = false;
});

void WatchThread() noexcept {
  g_watched.Set(&t_watched);
  t_watched = true;
}

KpObject* TakeOwn() noexcept {
  KpObject* error = t_error;
  t_error = nullptr;
  return error;
}

}  // namespace

int RaiseObject(KpErrorObject* error) noexcept {
  KpObject* previous = TakeOwn();
  t_error = &error->header;
  if (!t_watched) WatchThread();
  kGuests.set_error(&error->header);
  kp_release(previous);
  return -1;
}

int Raise(std::string_view kind, std::string_view message, std::string_view backtrace, const void* caller) noexcept {
  return RaiseObject(NewError(kind.empty() ? "RuntimeError" : kind, message, backtrace, caller));
}

bool TakeError(KpAny* out) noexcept {
  KpObject* own = TakeOwn();
  KpAny foreign = kp_none();
  // Each of our raises fills the peer's slot too, so a different error there was raised later.
  if (kGuests.take_error(&foreign)) {
    kp_release(own);
    own = foreign.v.v_obj;
  }
  *out = kp_none();
  if (own == nullptr) return false;
  RenderBacktrace(own);
  SetObject(out, own);
  return true;
}

}  // namespace kernpack::host

using namespace kernpack::host;

void kp_error_take(const char* who, int rc, KpAny* out) {
  if (TakeError(out)) return;
  char message[256];
  std::snprintf(message, sizeof message, "%s returned %d without an error", who ? who : "the function", rc);
  SetObject(out, NewError("InternalError", message, {}));
}

int kp_error_pending(void) { return t_error != nullptr; }

void kp_error_clear(void) {
  kp_release(TakeOwn());
  kGuests.set_error(nullptr);
}

int kp_raise(const char* kind, const char* format, ...) {
  char buffer[512];
  va_list args;
  va_start(args, format);
  va_list again;
  va_copy(again, args);
  const int size = std::vsnprintf(buffer, sizeof buffer, format, args);
  va_end(args);
  int rc = -1;
  if (size < 0) {
    rc = Raise(kind ? kind : "", format);
  } else if (static_cast<size_t>(size) < sizeof buffer) {
    rc = Raise(kind ? kind : "", {buffer, static_cast<size_t>(size)});
  } else {
    try {
      std::string text(static_cast<size_t>(size) + 1, '\0');
      std::vsnprintf(text.data(), text.size(), format, again);
      text.pop_back();
      rc = Raise(kind ? kind : "", text);
    } catch (...) {
      rc = Raise(kind ? kind : "", {buffer, sizeof buffer - 1});
    }
  }
  va_end(again);
  return rc;
}

namespace kernpack::host::service {

int raise(const KpHost*, KpBytes kind, KpBytes message, KpBytes backtrace) noexcept {
  return Raise(View(kind), View(message), View(backtrace), __builtin_return_address(0));
}

int raise_object(const KpHost*, KpObject* error) noexcept {
  if (error == nullptr || error->type_index != KP_TYPE_ERROR) {
    return kp_raise("TypeError", "raise_object: expected an Error object, got %s",
                    error ? kp_type_name(error->type_index) : "NULL");
  }
  kp_retain(error);
  return RaiseObject(reinterpret_cast<KpErrorObject*>(error));
}

int take_error(const KpHost*, KpAny* out) noexcept {
  TakeError(out);
  return 0;
}

}  // namespace kernpack::host::service
