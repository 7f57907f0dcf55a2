// Sums of rows: plain pointers, compiled once per CPU level.
#pragma once

#include "common/cpu/types.h"

namespace kk {

// out = a + b, element by element. out may be either.
template <class Level, class T>
void AddElements(const T* a, const T* b, T* out, int64_t count);

}  // namespace kk
