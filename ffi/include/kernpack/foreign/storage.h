// The storage of a module under a foreign host: a list of named values, local to the module, guarded by one lock.
#ifndef KERNPACK_FOREIGN_STORAGE_H_
#define KERNPACK_FOREIGN_STORAGE_H_

#include <kernpack/array.h>
#include <kernpack/foreign/host.h>
#include <kernpack/foreign/lock.h>
#include <kernpack/string.h>

KP_NAMESPACE_BEGIN
namespace detail {

enum class StoredState : uint32_t { kAbsent, kMaking, kReady };

// Never freed, so that a pointer to it outlives the lock.
struct StoredValue {
  StoredValue* next;
  KpStorageKey key;  // its text follows the struct; `reserved` is 1 for a workspace
  KpAny value;       // of a workspace: its address as OPAQUE_PTR
  uint64_t bytes;    // of a workspace
  StoredState state;
  uintptr_t maker;  // while kMaking: thread_identity()
};

inline bool same_key(const KpStorageKey& a, const KpStorageKey& b) {
  return a.scope == b.scope && a.reserved == b.reserved && a.key.size == b.key.size &&
         !__builtin_memcmp(a.key.data, b.key.data, a.key.size) &&
         (a.scope == KP_SCOPE_PROCESS || Device(a.device) == Device(b.device)) &&
         (a.scope != KP_SCOPE_STREAM || a.stream == b.stream);
}

// Under the lock. NULL when there is none and `make` is false, or memory ran out.
inline StoredValue* stored_value(ForeignState& state, const KpStorageKey& key, bool make) {
  for (StoredValue* v = state.stored; v; v = v->next) {
    if (same_key(v->key, key)) return v;
  }
  if (!make) return nullptr;
  void* memory = ::operator new(sizeof(StoredValue) + key.key.size, std::nothrow);
  if (!memory) return nullptr;
  StoredValue* v = static_cast<StoredValue*>(memory);
  __builtin_memset(memory, 0, sizeof(StoredValue));
  v->key = key;
  v->key.key.data = static_cast<char*>(__builtin_memcpy(v + 1, key.key.data, key.key.size));
  v->next = state.stored;
  state.stored = v;
  return v;
}

inline int foreign_storage_get(const KpHost* host, const KpStorageKey* key, KpAny* out, int32_t* out_found) {
  ForeignState& state = ForeignState::of(host);
  ForeignLock lock(&state.lock);
  const StoredValue* v = stored_value(state, *key, false);
  *out_found = v && v->state == StoredState::kReady;
  *out = *out_found ? v->value : kp_none();
  kp_any_retain(out);
  return 0;
}

inline int foreign_storage_set(const KpHost* host, const KpStorageKey* key, const KpAny* value) {
  ForeignState& state = ForeignState::of(host);
  KpAny old = kp_none();
  bool stored = false;
  {
    ForeignLock lock(&state.lock);
    if (StoredValue* v = stored_value(state, *key, true)) {
      old = v->value;
      v->value = *value;
      kp_any_retain(value);
      v->state = StoredState::kReady;
      stored = true;
    }
    state.made.WakeAll();
  }
  kp_any_release(&old);  // outside the lock: a destructor may come back here
  return stored ? 0 : foreign_fail(host, "MemoryError", "storage_set: out of memory");
}

inline int foreign_storage_get_or_init(const KpHost* host, const KpStorageKey* key, KpStorageFactory factory,
                                       void* context, KpAny* out) {
  ForeignState& state = ForeignState::of(host);
  *out = kp_none();
  state.lock.Acquire();
  StoredValue* v = stored_value(state, *key, true);
  const uintptr_t me = thread_identity();
  while (v && v->state == StoredState::kMaking && v->maker != me) state.made.Wait(&state.lock);
  if (v && v->state == StoredState::kReady) {
    *out = v->value;
    kp_any_retain(out);
    state.lock.Release();
    return 0;
  }
  const bool again = v && v->state == StoredState::kMaking;
  if (v && !again) {
    v->state = StoredState::kMaking;
    v->maker = me;
  }
  state.lock.Release();
  if (!v) return foreign_fail(host, "MemoryError", "storage_get_or_init: out of memory");
  if (again) return foreign_fail(host, "RuntimeError", "storage_get_or_init: the factory requests its own key");

  KpAny made = kp_none();
  const int rc = factory(context, &made);
  ForeignLock lock(&state.lock);
  state.made.WakeAll();
  if (v->state == StoredState::kReady) {  // the factory, or another thread, has set the key meanwhile: that stands
    kp_any_release(&made);
    *out = v->value;
    kp_any_retain(out);
    return rc;
  }
  v->state = rc == 0 ? StoredState::kReady : StoredState::kAbsent;
  if (rc) return rc;
  v->value = made;
  *out = made;
  kp_any_retain(out);
  return 0;
}

inline int foreign_storage_erase(const KpHost* host, const KpStorageKey* key, int32_t* out_erased) {
  ForeignState& state = ForeignState::of(host);
  KpAny old = kp_none();
  {
    ForeignLock lock(&state.lock);
    StoredValue* v = stored_value(state, *key, false);
    *out_erased = v && v->state == StoredState::kReady;
    if (*out_erased) {
      old = v->value;
      v->value = kp_none();
      v->state = StoredState::kAbsent;
    }
  }
  kp_any_release(&old);
  return 0;
}

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_FOREIGN_STORAGE_H_
