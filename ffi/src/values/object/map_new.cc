// Building a map. All keys are known beforehand, so chains are laid out head first and nothing ever has to move.
#include <kernpack/host/host.h>

#include <bit>
#include <unordered_map>
#include <vector>

#include "base/guard.h"
#include "values/object/map_layout.h"
#include "values/object/object.h"

namespace kernpack::host {
namespace {

void ReleasePair(MapPair& pair) {
  kp_any_release(&pair.key);
  kp_any_release(&pair.value);
}

void ReleaseItems(KpMapObject& map) {
  if (IsFlat(map)) {
    for (uint64_t i = 0; i < map.size; ++i) ReleasePair(static_cast<MapPair*>(map.data)[i]);
    return;
  }
  if (map.size == 0) return;
  for (uint64_t slot = reinterpret_cast<DenseMapObject&>(map).first; slot != kNoItem;) {
    MapItem& item = ItemAt(map.data, slot);
    slot = item.next;
    ReleasePair(item.pair);
  }
}

// A foreign SDK may have exchanged the storage of a map it alone held, from flat to dense too; the object tells.
void DeleteMap(void* object, int flags) noexcept {
  auto* map = static_cast<KpMapObject*>(object);
  if (flags & KP_DELETE_STRONG) {
    ReleaseItems(*map);
    if (map->data_deleter != nullptr) map->data_deleter(map->data);
    map->size = 0;
  }
  if (flags & KP_DELETE_WEAK) FreeObject(object);
}

struct KeyHasher {
  size_t operator()(const KpAny& key) const noexcept { return HashKey(key); }
};
struct KeySame {
  bool operator()(const KpAny& a, const KpAny& b) const noexcept { return SameKey(a, b); }
};

// Owned pairs in insertion order, each key once.
class Pairs {
 public:
  Pairs() = default;
  Pairs(const Pairs&) = delete;
  Pairs& operator=(const Pairs&) = delete;
  ~Pairs() {
    for (MapPair& pair : pairs_) ReleasePair(pair);
  }

  int Add(const KpAny& key, const KpAny& value) {
    OwnedAny own_key;
    OwnedAny own_value;
    if (kp_any_own(&key, own_key.out()) != 0 || kp_any_own(&value, own_value.out()) != 0) return -1;
    if (pairs_.capacity() == pairs_.size()) pairs_.reserve(pairs_.size() * 2 + 4);  // push_back below must not throw
    const auto [place, added] = places_.try_emplace(own_key.get(), pairs_.size());
    if (added) {
      pairs_.push_back(MapPair{own_key.Take(), own_value.Take()});
    } else {
      MapPair& pair = pairs_[place->second];
      kp_any_release(&pair.value);
      pair.value = own_value.Take();
    }
    return 0;
  }
  const std::vector<MapPair>& get() const { return pairs_; }
  void Forget() { pairs_.clear(); }

 private:
  std::vector<MapPair> pairs_;
  std::unordered_map<KpAny, size_t, KeyHasher, KeySame> places_;  // keys borrowed from pairs_
};

KpMapObject* NewFlat(const std::vector<MapPair>& pairs) {
  const uint64_t slots = pairs.size() > kMinFlatPairs ? pairs.size() : kMinFlatPairs;
  auto* map = NewObject<KpMapObject>(KP_TYPE_MAP, DeleteMap, slots * sizeof(MapPair));
  map->data = map + 1;
  map->size = pairs.size();
  map->slots = slots | kFlatMap;
  if (!pairs.empty()) std::memcpy(map->data, pairs.data(), pairs.size() * sizeof(MapPair));
  return map;
}

void Append(DenseMapObject* map, uint64_t slot, uint8_t tag, const MapPair& pair) {
  TagAt(map->base.data, slot) = tag;
  ItemAt(map->base.data, slot) = MapItem{pair, kNoItem, kNoItem};
  ++map->base.size;
}

// The end of the chain that begins at `slot`.
uint64_t ChainEnd(const DenseMapObject* map, uint64_t slot) {
  while (const uint8_t jump = TagAt(map->base.data, slot) & kJumpMask)
    slot = (slot + kProbeDistances[jump]) % map->base.slots;
  return slot;
}

// Puts the pair behind its chain; false when no empty slot is in reach.
bool AppendToChain(DenseMapObject* map, uint64_t home, const MapPair& pair, uint64_t* out_slot) {
  const uint64_t end = ChainEnd(map, home);
  for (uint8_t jump = 1; jump < kProbeCount; ++jump) {
    const uint64_t slot = (end + kProbeDistances[jump]) % map->base.slots;
    if (TagAt(map->base.data, slot) != kEmptyTag) continue;
    TagAt(map->base.data, end) = static_cast<uint8_t>((TagAt(map->base.data, end) & kNotHead) | jump);
    Append(map, slot, kNotHead, pair);
    *out_slot = slot;
    return true;
  }
  return false;
}

void Link(DenseMapObject* map, const std::vector<uint64_t>& places) {
  for (size_t i = 0; i < places.size(); ++i) {
    MapItem& item = ItemAt(map->base.data, places[i]);
    item.previous = i == 0 ? kNoItem : places[i - 1];
    item.next = i + 1 == places.size() ? kNoItem : places[i + 1];
  }
  map->first = places.front();
  map->last = places.back();
}

// Fills an empty table; false when a chain found no room, which a larger table cures.
bool Fill(DenseMapObject* map, const std::vector<MapPair>& pairs, std::vector<uint64_t>& places) {
  places.assign(pairs.size(), kNoItem);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const uint64_t home = (kFibonacci * HashKey(pairs[i].key)) >> map->shift;
    if (TagAt(map->base.data, home) != kEmptyTag) continue;
    Append(map, home, 0, pairs[i]);
    places[i] = home;
  }
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (places[i] != kNoItem) continue;
    const uint64_t home = (kFibonacci * HashKey(pairs[i].key)) >> map->shift;
    if (!AppendToChain(map, home, pairs[i], &places[i])) return false;
  }
  Link(map, places);
  return true;
}

KpMapObject* NewDense(const std::vector<MapPair>& pairs) {
  OwnedAny owner;
  auto* map = NewObject<DenseMapObject>(KP_TYPE_MAP, DeleteMap);
  SetObject(owner.out(), map);
  map->base.data_deleter = std::free;
  std::vector<uint64_t> places(pairs.size());
  for (uint64_t slots = std::bit_ceil(pairs.size() * 2);; slots *= 2) {
    const size_t bytes = (slots + kBlockItems - 1) / kBlockItems * sizeof(MapBlock);
    std::free(map->base.data);
    map->base.data = std::malloc(bytes);
    map->base.size = 0;  // the pairs stay their vector's until the table is complete
    if (map->base.data == nullptr) throw std::bad_alloc();
    std::memset(map->base.data, kEmptyTag, bytes);
    map->base.slots = slots;
    map->shift = static_cast<uint32_t>(64 - std::countr_zero(slots));
    if (Fill(map, pairs, places)) break;
    map->base.size = 0;
  }
  return reinterpret_cast<KpMapObject*>(owner.Take().v.v_obj);
}

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

int kp_map_new(const KpAny* keys_and_values, size_t pairs, KpAny* out) {
  return Guard("kp_map_new", [&] {
    if (pairs != 0 && keys_and_values == nullptr) {
      return kp_raise("ValueError", "kp_map_new: keys_and_values is NULL but pairs is %zu", pairs);
    }
    Pairs owned;
    for (size_t i = 0; i < pairs; ++i) {
      if (owned.Add(keys_and_values[2 * i], keys_and_values[2 * i + 1]) != 0) return -1;
    }
    SetObject(out, owned.get().size() <= kMaxFlatPairs ? NewFlat(owned.get()) : NewDense(owned.get()));
    owned.Forget();
    return 0;
  });
}
