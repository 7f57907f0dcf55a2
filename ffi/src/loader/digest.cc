#include "loader/digest.h"

#include "sha256/sha256.h"

namespace kernpack::host {

std::string Digest(std::span<const char> content) { return Sha256Hex(content.data(), content.size()); }

}  // namespace kernpack::host
