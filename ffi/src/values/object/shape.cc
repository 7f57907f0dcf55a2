// Shape objects: a row of int64 behind the body.
#include <kernpack/host/host.h>

#include "base/guard.h"
#include "values/object/object.h"

using namespace kernpack::host;

int kp_shape_new(const int64_t* items, size_t count, KpAny* out) {
  return Guard("kp_shape_new", [&] {
    if (count != 0 && items == nullptr) {
      return kp_raise("ValueError", "kp_shape_new: items is NULL but count is %zu", count);
    }
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, sizeof(int64_t), &bytes)) throw std::bad_alloc();
    auto* shape = NewObject<KpShapeObject>(KP_TYPE_SHAPE, DeletePlain, bytes);
    auto* data = reinterpret_cast<int64_t*>(shape + 1);
    if (bytes) std::memcpy(data, items, bytes);
    shape->data = data;
    shape->size = count;
    SetObject(out, shape);
    return 0;
  });
}
