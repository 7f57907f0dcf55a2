// Strings and bytes: up to seven bytes inside the value, else an object with the characters behind its body.
#include <kernpack/host/host.h>

#include "base/guard.h"
#include "values/object/object.h"

namespace kernpack::host {
namespace {

constexpr size_t kSmallSize = 7;

int NewText(KpBytes text, int32_t small_index, int32_t object_index, KpAny* out) {
  if (text.size != 0 && text.data == nullptr) {
    return kp_raise("ValueError", "%s: data is NULL but size is %zu",
                    object_index == KP_TYPE_STR ? "kp_string_new" : "kp_bytes_new", text.size);
  }
  if (text.size <= kSmallSize) {
    *out = kp_none();
    out->type_index = small_index;
    out->small_len = static_cast<uint32_t>(text.size);
    if (text.size) std::memcpy(out->v.v_bytes, text.data, text.size);
    return 0;
  }
  if (text.size == SIZE_MAX) throw std::bad_alloc();
  auto* object = NewObject<KpStrObject>(object_index, DeletePlain, text.size + 1);
  char* data = reinterpret_cast<char*>(object + 1);
  std::memcpy(data, text.data, text.size);
  data[text.size] = '\0';
  object->bytes = KpBytes{data, text.size};
  SetObject(out, object);
  return 0;
}

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

int kp_string_new(KpBytes text, KpAny* out) {
  return Guard("kp_string_new", [&] { return NewText(text, KP_TYPE_SMALL_STR, KP_TYPE_STR, out); });
}

int kp_bytes_new(KpBytes data, KpAny* out) {
  return Guard("kp_bytes_new", [&] { return NewText(data, KP_TYPE_SMALL_BYTES, KP_TYPE_BYTES, out); });
}
