#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kernpack::host {

uint64_t HashText(std::string_view text, uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

}  // namespace kernpack::host
