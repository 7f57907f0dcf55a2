// An owned value from a borrowed one.
#include <kernpack/host/host.h>

#include "base/guard.h"
#include "values/object/object.h"

using namespace kernpack::host;

int kp_any_own(const KpAny* borrowed, KpAny* out) {
  switch (borrowed->type_index) {
    case KP_TYPE_RAW_STR:
      return kp_string_new(kp_bytes(borrowed->v.v_c_str), out);
    case KP_TYPE_BYTE_ARRAY_PTR:
      if (borrowed->v.v_ptr == nullptr) return kp_raise("ValueError", "kp_any_own: the borrowed bytes are NULL");
      return kp_bytes_new(*static_cast<const KpBytes*>(borrowed->v.v_ptr), out);
    case KP_TYPE_DLTENSOR_PTR:
      return kp_raise(
          "TypeError",
          "a borrowed tensor (DLTensor*) cannot be kept beyond the call; expected an owning Tensor. Make one "
          "with kp_tensor_from_dlpack or kp_tensor_wrap");
    case KP_TYPE_RVALUE_REF: {
      auto** source = static_cast<KpObject**>(borrowed->v.v_ptr);
      if (*source == nullptr) {
        *out = kp_none();
      } else {
        SetObject(out, *source);
        *source = nullptr;
      }
      return 0;
    }
    default:
      break;
  }
  if (kp_any_validate(borrowed, "kp_any_own") != 0) return -1;
  *out = *borrowed;
  kp_any_retain(out);
  return 0;
}
