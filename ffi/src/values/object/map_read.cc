// Looking up and stepping through a map, whoever made it.
#include <kernpack/host/host.h>

#include "base/guard.h"
#include "values/object/map_layout.h"

namespace kernpack::host {
namespace {

const MapPair* FindFlat(const KpMapObject& map, const KpAny& key) {
  const auto* pairs = static_cast<const MapPair*>(map.data);
  for (uint64_t i = 0; i < map.size; ++i) {
    if (SameKey(pairs[i].key, key)) return &pairs[i];
  }
  return nullptr;
}

const MapPair* FindDense(const KpMapObject& map, const KpAny& key) {
  if (map.size == 0) return nullptr;
  const auto& dense = reinterpret_cast<const DenseMapObject&>(map);
  uint64_t slot = (kFibonacci * HashKey(key)) >> dense.shift;
  if (TagAt(map.data, slot) & kNotHead) return nullptr;
  while (true) {
    const MapPair& pair = ItemAt(map.data, slot).pair;
    if (SameKey(pair.key, key)) return &pair;
    const uint8_t jump = TagAt(map.data, slot) & kJumpMask;
    if (jump == 0 || jump >= kProbeCount) return nullptr;
    slot = (slot + kProbeDistances[jump]) % map.slots;
  }
}

// The peer's Dict, which may change, is laid out as a Map is.
bool IsMap(const KpMapObject* map) {
  return map != nullptr && (map->header.type_index == KP_TYPE_MAP || map->header.type_index == KP_TYPE_DICT);
}

int CheckMap(const KpMapObject* map, const char* who) {
  if (IsMap(map)) return 0;
  return kp_raise("TypeError", "%s: expected a Map, got %s", who, map ? kp_type_name(map->header.type_index) : "NULL");
}

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

int kp_map_get(const KpMapObject* map, const KpAny* key, KpAny* out, int32_t* out_found) {
  return Guard("kp_map_get", [&] {
    *out = kp_none();
    *out_found = 0;
    if (CheckMap(map, "kp_map_get") != 0) return -1;
    const MapPair* found = IsFlat(*map) ? FindFlat(*map, *key) : FindDense(*map, *key);
    if (found == nullptr) return 0;
    *out = found->value;
    kp_any_retain(out);
    *out_found = 1;
    return 0;
  });
}

int kp_map_next(const KpMapObject* map, uint64_t* cursor, KpAny* key, KpAny* value) {
  const MapPair* pair = nullptr;
  if (!IsMap(map)) return 0;
  if (IsFlat(*map)) {
    if (*cursor >= map->size) return 0;
    pair = static_cast<const MapPair*>(map->data) + (*cursor)++;
  } else {
    // 0 is the start; then one more than the slot to visit; kNoItem the end.
    const auto& dense = reinterpret_cast<const DenseMapObject&>(*map);
    const uint64_t slot = *cursor == 0 ? dense.first : *cursor - 1;
    if (map->size == 0 || *cursor == kNoItem || slot >= map->slots) return 0;
    const MapItem& item = ItemAt(map->data, slot);
    *cursor = item.next == kNoItem ? kNoItem : item.next + 1;
    pair = &item.pair;
  }
  *key = pair->key;
  *value = pair->value;
  return 1;
}
