// The hash of the process's own tables: XXH3. Not for files: what stands in those is SHA-256 (base/loader/digest.h).
#ifndef KERNPACK_SRC_BASE_HASH_H_
#define KERNPACK_SRC_BASE_HASH_H_

#include <cstdint>
#include <string_view>

namespace kernpack::host {

// `seed`: the hash of what comes before; 0 at the start.
uint64_t HashText(std::string_view text, uint64_t seed = 0) noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_HASH_H_
