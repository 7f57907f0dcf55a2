// Rows as long as whole vectors of every level. No code of a level.
#pragma once

#include <cstdint>

namespace kk {

inline int64_t PaddedWidth(int64_t width) { return (width + 15) / 16 * 16; }

}  // namespace kk
