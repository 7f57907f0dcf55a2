// The digest of a module's content, for the row beside hashlib (topics/loading.py).
#include <algorithm>

#include "shared/sha256.h"

extern "C" __attribute__((visibility("default"))) void sha256(const void* data, size_t size, unsigned char* out) {
  const auto digest = kernpack::Sha256(data, size);
  std::copy(digest.begin(), digest.end(), out);
}
