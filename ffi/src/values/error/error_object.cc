#include "values/error/error_object.h"

#include <string>

#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "base/guard.h"
#include "values/error/backtrace.h"
#include "values/object/object.h"

namespace kernpack::host {
namespace {

struct ErrorBody {
  KpErrorObject base;
  char* own_backtrace;  // malloc'd; replaces the inline text once somebody appended or rendered
  void** frames;        // malloc'd, captured and not rendered yet
  int frame_count;
};

void DeleteError(void* object, int flags) noexcept {
  auto* error = static_cast<ErrorBody*>(object);
  if (flags & KP_DELETE_STRONG) {
    kp_release(error->base.cause);
    kp_release(error->base.extra_context);
    std::free(error->own_backtrace);
    std::free(error->frames);
    error->own_backtrace = nullptr;
    error->frames = nullptr;
  }
  if (flags & KP_DELETE_WEAK) FreeObject(object);
}

// Nothing can be raised when there is no memory left for an error but this. Immortal: its deleter is NULL.
constinit KpErrorObject g_out_of_memory = {{kOneStrongOneWeak, KP_TYPE_ERROR, 0, nullptr},
                                           {"MemoryError", 11},
                                           {"out of memory", 13},
                                           {"", 0},
                                           nullptr,
                                           nullptr,
                                           nullptr};

void UpdateBacktrace(void* self, const KpBytes* text, int32_t mode) {
  auto* error = static_cast<ErrorBody*>(self);
  const size_t kept = mode == 1 ? error->base.backtrace.size : 0;
  char* grown = static_cast<char*>(std::malloc(kept + text->size + 1));
  if (grown == nullptr) return;  // a shorter backtrace beats a lost error
  if (kept) std::memcpy(grown, error->base.backtrace.data, kept);
  if (text->size) std::memcpy(grown + kept, text->data, text->size);
  grown[kept + text->size] = '\0';
  std::free(error->own_backtrace);
  error->own_backtrace = grown;
  error->base.backtrace = KpBytes{grown, kept + text->size};
}

KpBytes Place(char*& cursor, std::string_view text) {
  if (!text.empty()) std::memcpy(cursor, text.data(), text.size());
  cursor[text.size()] = '\0';
  const KpBytes placed{cursor, text.size()};
  cursor += text.size() + 1;
  return placed;
}

void KeepFrames(ErrorBody* error, void* const* frames, int count) noexcept {
  const size_t bytes = static_cast<size_t>(count) * sizeof(void*);
  error->frames = count ? static_cast<void**>(std::malloc(bytes)) : nullptr;
  if (error->frames == nullptr) return;
  std::memcpy(error->frames, frames, bytes);
  error->frame_count = count;
}

ErrorBody* NewBody(std::string_view kind, std::string_view message, std::string_view backtrace) noexcept {
  ErrorBody* error = nullptr;
  try {
    error = NewObject<ErrorBody>(KP_TYPE_ERROR, DeleteError, kind.size() + message.size() + backtrace.size() + 3);
  } catch (...) {
    return nullptr;
  }
  char* cursor = reinterpret_cast<char*>(error + 1);
  error->base.kind = Place(cursor, kind);
  error->base.message = Place(cursor, message);
  error->base.backtrace = Place(cursor, backtrace);
  error->base.update_backtrace = UpdateBacktrace;
  return error;
}

}  // namespace

KpErrorObject* NewError(std::string_view kind, std::string_view message, std::string_view backtrace,
                        const void* caller) noexcept {
  ErrorBody* error = NewBody(kind, message, backtrace);
  if (error == nullptr) return &g_out_of_memory;
  if (BacktraceWanted()) {
    void* frames[kMaxFrames];
    KeepFrames(error, frames, CaptureFrames(frames, caller));
  }
  return &error->base;
}

KpErrorObject* NewErrorOfFrames(std::string_view kind, std::string_view message, std::string_view backtrace,
                                void* const* frames, int count) noexcept {
  ErrorBody* error = NewBody(kind, message, backtrace);
  if (error == nullptr) return &g_out_of_memory;
  KeepFrames(error, frames, count);
  return &error->base;
}

void RenderBacktrace(KpObject* object) noexcept {
  if (object == nullptr || object->deleter != DeleteError) return;
  auto* error = reinterpret_cast<ErrorBody*>(object);
  if (error->frames == nullptr) return;
  try {
    const std::string text = RenderFrames(error->frames, error->frame_count);
    std::free(error->frames);
    error->frames = nullptr;
    const KpBytes bytes = Bytes(text);
    UpdateBacktrace(error, &bytes, 1);
  } catch (...) {
    // No memory for the text: the error itself is what matters.
  }
}

}  // namespace kernpack::host

using namespace kernpack::host;

int kp_error_new(KpBytes kind, KpBytes message, KpBytes backtrace, KpAny* out) {
  return Guard("kp_error_new", [&] {
    SetObject(out, NewError(View(kind), View(message), View(backtrace)));
    return 0;
  });
}
