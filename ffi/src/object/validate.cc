// Values that other people's code made are looked at before they are read.
#include <kernpack/host/host.h>

#include "base/guard.h"
#include "peer/peer.h"
#include "registry/registry.h"

using namespace kernpack::host;

namespace {

// Whether objects of that index can exist here: reading one of another would be a guess.
bool IsKnownObject(int32_t index) {
  if (index >= KP_TYPE_STATIC_OBJECT_BEGIN && index < KP_TYPE_STATIC_OBJECT_END) return true;
  if (index >= KP_TYPE_DYNAMIC_OURS) return RegisteredTypeName(index) != nullptr;
  return index >= KP_TYPE_DYNAMIC && PeerLoaded();
}

int ValidateObject(const KpAny& value, const char* who) {
  const int32_t index = value.type_index;
  if (!IsKnownObject(index)) {
    return kp_raise("TypeError",
                    "%s: expected a value of a type known here (index 0 to 12, 64 to 78, or that of a registered "
                    "class), got type index %d",
                    who, index);
  }
  if (value.v.v_obj == nullptr) {
    return kp_raise("ValueError", "%s: a value of type %s holds a NULL object; expected an object, or None", who,
                    kp_type_name(index));
  }
  if (value.v.v_obj->type_index != index) {
    return kp_raise("TypeError", "%s: a value says that it is a %s (type index %d), its object has type index %d", who,
                    kp_type_name(index), index, value.v.v_obj->type_index);
  }
  return 0;
}

}  // namespace

int kp_any_validate(const KpAny* value, const char* who) {
  const int32_t index = value->type_index;
  if (index >= KP_TYPE_NONE && index <= KP_TYPE_RVALUE_REF) return 0;
  if (index == KP_TYPE_SMALL_STR || index == KP_TYPE_SMALL_BYTES) {
    if (value->small_len <= 7) return 0;
    return kp_raise("ValueError", "%s: expected a short %s of at most 7 bytes, got one of %u", who, kp_type_name(index),
                    value->small_len);
  }
  return Guard("kp_any_validate", [&] { return ValidateObject(*value, who); });
}
