#include "module/name_index.h"

#include <bit>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kernpack::host {

NameIndex::NameIndex(size_t count) : room_(count) {
  const size_t slots = std::bit_ceil(count + count / 4 + 1);
  slots_ = std::make_unique<Slot[]>(slots);
  mask_ = slots - 1;
}

uint32_t NameIndex::Hash(std::string_view name) { return static_cast<uint32_t>(XXH3_64bits(name.data(), name.size())); }

}  // namespace kernpack::host
