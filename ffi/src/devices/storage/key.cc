#include "devices/storage/key.h"

#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "devices/storage/table.h"

namespace kernpack::host {

int ReadKey(const KpStorageKey* key, const char* who, KeyView* out, bool key_needed) {
  if (key == nullptr) return kp_raise("ValueError", "%s: the key is NULL", who);
  if (key_needed && key->key.size == 0) return kp_raise("ValueError", "%s: the key is empty", who);
  if (key->reserved != 0)
    return kp_raise("ValueError", "%s: reserved field of the key is %u; expected 0", who, key->reserved);
  if (key->scope > KP_SCOPE_STREAM) {
    return kp_raise("ValueError", "%s: scope is %u; expected 0 (process), 1 (device) or 2 (stream)", who, key->scope);
  }
  *out = KeyView{OwnerOfKeys(key->module), View(key->key), key->scope, {0, 0}, nullptr};
  if (out->key.starts_with("::")) out->module = {};
  if (key->scope != KP_SCOPE_PROCESS) out->device = key->device;
  if (key->scope == KP_SCOPE_STREAM) out->stream = key->stream;
  return 0;
}

}  // namespace kernpack::host
