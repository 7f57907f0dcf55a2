// Foreign pointers as objects.
#include <kernpack/host/host.h>

#include "base/guard.h"
#include "values/object/object.h"

namespace kernpack::host {
namespace {

struct OpaqueBody {
  KpOpaqueObject base;
  void (*handle_deleter)(void*);
};

void DeleteOpaque(void* object, int flags) noexcept {
  auto* opaque = static_cast<OpaqueBody*>(object);
  if ((flags & KP_DELETE_STRONG) && opaque->handle_deleter) opaque->handle_deleter(opaque->base.handle);
  if (flags & KP_DELETE_WEAK) FreeObject(object);
}

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

int kp_opaque_new(void* handle, int32_t type_index, void (*deleter)(void* handle), KpAny* out) {
  return Guard("kp_opaque_new", [&] {
    if (type_index != KP_TYPE_OPAQUE_PY_OBJECT && type_index < KP_TYPE_DYNAMIC_OURS) {
      return kp_raise(
          "ValueError",
          "kp_opaque_new: type_index: expected OPAQUE_PY_OBJECT (74) or one allotted by type_index(), got %d",
          type_index);
    }
    auto* opaque = NewObject<OpaqueBody>(type_index, DeleteOpaque);
    opaque->base.handle = handle;
    opaque->handle_deleter = deleter;
    SetObject(out, opaque);
    return 0;
  });
}
