// Strings that live as long as the process.
#ifndef KERNPACK_SRC_BASE_INTERN_H_
#define KERNPACK_SRC_BASE_INTERN_H_

#include <string_view>

namespace kernpack::host {

// A NUL-terminated copy of `text`, the same pointer for the same text. Any thread. Throws std::bad_alloc.
const char* Intern(std::string_view text);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_INTERN_H_
