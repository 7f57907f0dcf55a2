// Arrays: immutable, items inline behind the body.
#include <kernpack/host/host.h>

#include "base/guard.h"
#include "values/object/object.h"

namespace kernpack::host {
namespace {

void DeleteArray(void* object, int flags) noexcept {
  auto* array = static_cast<KpSequenceObject*>(object);
  if (flags & KP_DELETE_STRONG) {
    for (int64_t i = 0; i < array->size; ++i) kp_any_release(&array->data[i]);
    // A foreign SDK's inlined code may have moved the items to its own buffer, which it then frees itself.
    if (array->data_deleter != nullptr) array->data_deleter(array->data);
    array->size = 0;
  }
  if (flags & KP_DELETE_WEAK) FreeObject(object);
}

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

int kp_array_new(const KpAny* items, size_t count, KpAny* out) {
  return Guard("kp_array_new", [&] {
    if (count != 0 && items == nullptr) {
      return kp_raise("ValueError", "kp_array_new: items is NULL but count is %zu", count);
    }
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, sizeof(KpAny), &bytes)) throw std::bad_alloc();
    OwnedAny owner;
    auto* array = NewObject<KpSequenceObject>(KP_TYPE_ARRAY, DeleteArray, bytes);
    SetObject(owner.out(), array);
    array->data = reinterpret_cast<KpAny*>(array + 1);
    array->capacity = static_cast<int64_t>(count);
    for (size_t i = 0; i < count; ++i) {
      if (kp_any_own(&items[i], &array->data[i]) != 0) return -1;
      ++array->size;  // only now: a failure halfway releases exactly what was made
    }
    *out = owner.Take();
    return 0;
  });
}
