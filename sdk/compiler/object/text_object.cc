#include "object/text_object.h"

#include <kernpack/object.h>

#include <cstring>

#include "target/host.h"

namespace kernpack::sdk {
namespace {

int32_t TypeIndex(const char* type_key) {
  int32_t index = 0;
  Check(Host()->type_index(Host(), kp_bytes(type_key), &index));
  return index;
}

}  // namespace

Any NewTextObject(const char* type_key, std::string_view text) {
  const int32_t type_index = TypeIndex(type_key);
  auto* object = kernpack::detail::new_object<KpStrObject>(type_index, text.size() + 1);
  char* data = reinterpret_cast<char*>(object + 1);
  std::memcpy(data, text.data(), text.size());
  data[text.size()] = '\0';
  object->bytes = {data, text.size()};
  KpAny value = kp_none();
  value.type_index = type_index;
  value.v.v_obj = &object->header;
  return Any::adopt(value);
}

std::string_view GetText(const AnyView& value, const char* type_key, const char* what) {
  KpBytes text{};
  if (kp_any_str(&value.raw(), &text)) return {text.data, text.size};
  if (value.type_index() != TypeIndex(type_key)) {
    KP_THROW(TypeError) << what << ": expected a " << type_key << " or its text, got " << type_name(value.type_index());
  }
  text = reinterpret_cast<const KpStrObject*>(value.raw().v.v_obj)->bytes;
  return {text.data, text.size};
}

}  // namespace kernpack::sdk
