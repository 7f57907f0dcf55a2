#include "modules/name_index.h"

#include <bit>

namespace kernpack::host {

NameIndex::NameIndex(size_t count) : room_(count) {
  const size_t slots = std::bit_ceil(count + count / 4 + 1);
  slots_ = std::make_unique<Slot[]>(slots);
  mask_ = slots - 1;
}

}  // namespace kernpack::host
