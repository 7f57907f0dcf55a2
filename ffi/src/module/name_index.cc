#include "module/name_index.h"

#include <bit>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kernpack::host {

NameIndex::NameIndex(size_t count) : slots_(std::bit_ceil(2 * count + 1), Slot{nullptr, 0, kNone, 0}) {}

const NameIndex::Slot& NameIndex::Probe(std::string_view name, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (!slot.name) return slot;
    if (slot.hash == hash && slot.size == name.size() && std::memcmp(slot.name, name.data(), name.size()) == 0)
      return slot;
  }
}

uint32_t NameIndex::FindOrAdd(std::string_view name, uint32_t number) {
  const uint64_t hash = XXH3_64bits(name.data(), name.size());
  Slot& slot = const_cast<Slot&>(Probe(name, hash));
  if (slot.name) return slot.number;
  slot = Slot{name.data(), static_cast<uint32_t>(name.size()), number, hash};
  return kNone;
}

uint32_t NameIndex::Find(std::string_view name) const {
  return Probe(name, XXH3_64bits(name.data(), name.size())).number;
}

}  // namespace kernpack::host
