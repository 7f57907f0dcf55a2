#include "loader/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace kernpack::host {

std::string Digest(std::span<const char> content) {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, XXH3_128bits(content.data(), content.size()));
  std::string text;
  text.reserve(2 * sizeof bytes.digest);
  for (const unsigned char byte : bytes.digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace kernpack::host
