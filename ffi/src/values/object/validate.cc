// Values that other people's code made are looked at before they are read.
#include <kernpack/host/host.h>

#include "base/guard.h"
#include "values/guests.h"
#include "values/object/object.h"

using namespace kernpack::host;

namespace {

// True if objects of that type index can exist here: reading an object with any other index would be a guess.
bool IsKnownObject(int32_t index) {
  if (index >= KP_TYPE_STATIC_OBJECT_BEGIN && index < KP_TYPE_STATIC_OBJECT_END) return true;
  if (index >= KP_TYPE_DYNAMIC_OURS) return RegisteredTypeName(index) != nullptr;
  return index >= KP_TYPE_DYNAMIC && kGuests.loaded();
}

bool IsRange(const void* data, uint64_t size) {
  return size == 0 || (data != nullptr && size <= static_cast<uint64_t>(INT64_MAX));
}

bool HasRange(const KpBytes& bytes) { return IsRange(bytes.data, bytes.size); }

// The fault in an object's body that would lead its reader to invalid memory; NULL if there is none. A pointer that isn't NULL is
// trusted.
const char* Damage(const KpObject* object) {
  const void* body = object;
  switch (object->type_index) {
    case KP_TYPE_STR:
    case KP_TYPE_BYTES:
      if (!HasRange(static_cast<const KpStrObject*>(body)->bytes)) return "a NULL string, or an invalid length";
      break;
    case KP_TYPE_SHAPE: {
      const auto* shape = static_cast<const KpShapeObject*>(body);
      if (!IsRange(shape->data, shape->size)) return "NULL extents, or an invalid number of them";
      break;
    }
    case KP_TYPE_ARRAY:
    case KP_TYPE_LIST: {
      const auto* sequence = static_cast<const KpSequenceObject*>(body);
      if (!IsRange(sequence->data, static_cast<uint64_t>(sequence->size))) return "NULL items, or a negative count";
      break;
    }
    case KP_TYPE_MAP:
    case KP_TYPE_DICT: {
      const auto* map = static_cast<const KpMapObject*>(body);
      if (!IsRange(map->data, map->size)) return "NULL items";
      break;
    }
    case KP_TYPE_FUNCTION:
      if (static_cast<const KpFunctionObject*>(body)->call == nullptr) return "no code to call";
      break;
    case KP_TYPE_ERROR: {
      const auto* error = static_cast<const KpErrorObject*>(body);
      if (!HasRange(error->kind) || !HasRange(error->message) || !HasRange(error->backtrace)) return "a NULL string";
      break;
    }
    case KP_TYPE_OPAQUE_PY_OBJECT:
      if (static_cast<const KpOpaqueObject*>(body)->handle == nullptr) return "a NULL handle";
      break;
    default:
      break;
  }
  return nullptr;
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
  if (const char* damage = Damage(value.v.v_obj)) {
    return kp_raise("ValueError", "%s: a value of type %s is damaged: it has %s", who, kp_type_name(index), damage);
  }
  return index == KP_TYPE_TENSOR ? kp_dltensor_validate(kp_any_tensor(&value), who) : 0;
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
