// The storage services of the host table.
#include <algorithm>
#include <string>
#include <vector>

#include <kernpack/host/host.h>

#include "base/guard.h"
#include "base/call_flags.h"
#include "devices/observers.h"
#include "base/services.h"
#include "values/object/object.h"
#include "devices/storage/table.h"

namespace kernpack::host::service {

int storage_get(const KpHost*, const KpStorageKey* key, KpAny* out, int32_t* out_found) noexcept {
  return Guard("storage_get", [&] {
    KeyView view;
    if (ReadKey(key, "storage_get", &view) != 0) return -1;
    *out_found = StorageTable::Get().Find(view, out);
    if (*out_found == 0) *out = kp_none();
    return 0;
  });
}

int storage_set(const KpHost*, const KpStorageKey* key, const KpAny* value) noexcept {
  return Guard("storage_set", [&] {
    KeyView view;
    if (ReadKey(key, "storage_set", &view) != 0) return -1;
    if (check::Checking() && kObservers.stored(view, *value) != 0) return -1;
    OwnedAny owned;
    if (kp_any_own(value, owned.out()) != 0) return -1;
    StorageTable::Get().Set(view, owned.get());
    owned.Take();
    return 0;
  });
}

int storage_get_or_init(const KpHost*, const KpStorageKey* key, KpStorageFactory factory, void* context,
                        KpAny* out) noexcept {
  return Guard("storage_get_or_init", [&] {
    KeyView view;
    *out = kp_none();
    if (ReadKey(key, "storage_get_or_init", &view) != 0) return -1;
    if (factory == nullptr) return kp_raise("ValueError", "storage_get_or_init: the factory is NULL");
    return GetOrInit(view, factory, context, out);
  });
}

int storage_erase(const KpHost*, const KpStorageKey* key, int32_t* out_erased) noexcept {
  return Guard("storage_erase", [&] {
    KeyView view;
    if (ReadKey(key, "storage_erase", &view) != 0) return -1;
    *out_erased = StorageTable::Get().Erase(view);
    return 0;
  });
}

int storage_list(const KpHost*, const KpStorageKey* key, KpAny* out) noexcept {
  return Guard("storage_list", [&] {
    KeyView wanted;
    if (ReadKey(key, "storage_list", &wanted, /*key_needed=*/false) != 0) return -1;
    std::vector<std::string> keys;
    StorageTable::Get().ForEach([&](const KeyView& found, const KpAny&) {
      KeyView place = found;
      place.key = wanted.key;
      if (place == wanted) keys.emplace_back(found.key);
    });
    std::sort(keys.begin(), keys.end());
    return NewStringArray(keys, out);
  });
}

}  // namespace kernpack::host::service
