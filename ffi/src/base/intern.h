// Strings that live as long as the process, and the hash of the tables that look them up.
#ifndef KERNPACK_SRC_BASE_INTERN_H_
#define KERNPACK_SRC_BASE_INTERN_H_

#include <cstdint>
#include <string_view>

namespace kernpack::host {

// A NUL-terminated copy of `text`, the same pointer for the same text. Any thread. Throws std::bad_alloc.
const char* Intern(std::string_view text);

// The one hash of the process's own tables: XXH3. Not for files: what stands in those is SHA-256.
// `seed`: the hash of what comes before; 0 at the start.
uint64_t HashText(std::string_view text, uint64_t seed = 0) noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_INTERN_H_
