// Rotary position embedding of one row: plain pointers, compiled once per CPU level.
#pragma once

#include "../rows/types.h"

namespace kk {

// Of `width` elements the first 2 * pairs are rotated, the others copied. Pairs are elements i and pairs + i, or, where
// interleaved, 2 i and 2 i + 1. sign is -1 for the inverse. out may be x.
struct RopeRow {
  const float *cos, *sin;  // [pairs]
  int64_t pairs, width;
  bool interleaved;
  float sign;
};

template <class Level, class T>
void Rope(const RopeRow& row, const T* x, T* out);

}  // namespace kk
