// The keys under which a foreign host's instance stores values. It catches what running out of memory throws, so unlike
// the rest of this folder it needs exceptions.
#ifndef KERNPACK_FOREIGN_STORAGE_KEYS_H_
#define KERNPACK_FOREIGN_STORAGE_KEYS_H_

#include <kernpack/foreign/storage.h>

KP_NAMESPACE_BEGIN
namespace detail {

// Sorted by selection: a module's keys are few.
inline int foreign_storage_list(const KpHost* host, const KpStorageKey* scope, KpAny* out) {
  ForeignState& state = ForeignState::of(host);
  ForeignLock lock(&state.lock);
  size_t n = 0;
  auto listed = [&](const StoredValue* v) {
    KpStorageKey same = *scope;
    same.key = v->key.key;
    return v->state == StoredState::kReady && same_key(v->key, same);
  };
  for (const StoredValue* v = state.stored; v; v = v->next) n += listed(v);
  KpSequenceObject* list = nullptr;
  try {
    list = new_object<KpSequenceObject>(KP_TYPE_ARRAY, n * sizeof(KpAny), &delete_array);
    list->data = reinterpret_cast<KpAny*>(list + 1);
    list->capacity = static_cast<int64_t>(n);
    const StoredValue* last = nullptr;
    auto before = [](const StoredValue* a, const StoredValue* b) {
      const size_t shorter = a->key.key.size < b->key.key.size ? a->key.key.size : b->key.key.size;
      const int order = __builtin_memcmp(a->key.key.data, b->key.key.data, shorter);
      return order < 0 || (order == 0 && a->key.key.size < b->key.key.size);
    };
    for (size_t i = 0; i < n; ++i) {
      const StoredValue* next = nullptr;
      for (const StoredValue* v = state.stored; v; v = v->next) {
        if (listed(v) && (!last || before(last, v)) && (!next || before(v, next))) next = v;
      }
      list->data[i] = own_bytes(next->key.key, true);
      ++list->size;
      last = next;
    }
  } catch (...) {
    if (list) kp_release(&list->header);
    return foreign_fail(host, "MemoryError", "storage_keys: out of memory");
  }
  out->type_index = KP_TYPE_ARRAY;
  out->v.v_obj = &list->header;
  return 0;
}

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_FOREIGN_STORAGE_KEYS_H_
